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

/** Notification channel for operator requests, rows of the projector's tables that it also polls. */
export const PROJECTOR_CONTROL_CHANNEL = 'projector_control';

/** Written by the projector and read by operators. */
export type VerificationReport = {
  /** Log position at which the tables were compared. */
  readonly position: string;
  readonly facts: number;
  /** Events missing from both sides: parked, or skipped by an operator. */
  readonly left_out: number;
  readonly tables: readonly TableComparison[];
};

/** A live table against its replay. */
export type TableComparison = {
  readonly table: string;
  readonly live_rows: number;
  readonly replayed_rows: number;
  readonly is_equal: boolean;
  /** Owners of the differing rows, if a column names them; otherwise `null`. */
  readonly groups: {
    readonly column: string;
    readonly count: number;
    readonly first: readonly string[];
  } | null;
  readonly first_keys: readonly DifferingKey[];
};

export type DifferingKey = {
  readonly key: Readonly<Record<string, string | null>>;
  /** `live`: the row should not exist. `replayed`: the row is missing. `null`: the rows differ in `columns`. */
  readonly only_in: 'live' | 'replayed' | null;
  readonly columns: readonly string[];
};
