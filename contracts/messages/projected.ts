/** Postgres notification channel for log positions that projections have passed. */
export const PROJECTED_CHANNEL = 'projected';

/** Lower than before after a rebuild from an earlier position. */
export type Projected = { readonly position: bigint; readonly projections: readonly string[] };

/** Postgres allows 8,000 bytes; the names of some fifty read models are well below that. */
export const formatProjected = ({ position, projections }: Projected): string =>
  `${position} ${projections.join()}`;

/** `null` when the text has another format. */
export const parseProjected = (text: string): Projected | null => {
  const [, position, names] = /^(\d+) ([\w,-]*)$/.exec(text) ?? [];
  if (position === undefined || names === undefined) return null;
  return { position: BigInt(position), projections: names === '' ? [] : names.split(',') };
};
