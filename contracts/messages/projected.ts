/** Postgres channel on which the projector tells that projections have passed a position of the log. */
export const PROJECTED_CHANNEL = 'projected';

/** Where these projections stand now: mostly later than before, earlier where one was built anew. */
export type Projected = { readonly position: bigint; readonly projections: readonly string[] };

/** A notice holds 8,000 bytes at most; names of some fifty read models are well below. */
export const encodeProjected = ({ position, projections }: Projected): string =>
  `${position} ${projections.join()}`;

/** `null` for what is no such notice. */
export const decodeProjected = (text: string): Projected | null => {
  const [, position, names] = /^(\d+) ([\w,-]*)$/.exec(text) ?? [];
  if (position === undefined || names === undefined) return null;
  return { position: BigInt(position), projections: names === '' ? [] : names.split(',') };
};
