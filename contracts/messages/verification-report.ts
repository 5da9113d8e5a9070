/** What the projector writes down of a verification, and operators read. */
export type VerificationReport = {
  /** Of the log, at which the tables were compared. */
  readonly position: string;
  readonly facts: number;
  /** Events that both sides are without: parked, or left out by an operator. */
  readonly left_out: number;
  readonly tables: readonly TableComparison[];
};

/** A table beside the same table as a replay makes it. */
export type TableComparison = {
  readonly table: string;
  readonly live_rows: number;
  readonly replayed_rows: number;
  readonly is_equal: boolean;
  /** Whose rows differ, where a table says whose they are. */
  readonly groups: {
    readonly column: string;
    readonly count: number;
    readonly first: readonly string[];
  } | null;
  readonly first_keys: readonly DifferingKey[];
};

export type DifferingKey = {
  readonly key: Readonly<Record<string, string | null>>;
  /** `live`: the row should not be there. `replayed`: it is missing. `null`: it differs in `columns`. */
  readonly only_in: 'live' | 'replayed' | null;
  readonly columns: readonly string[];
};
