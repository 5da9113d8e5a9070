import type { Event, RecordedEvent } from '#contracts/events/event.ts';

/**
 * The shape of a projection: it maps events to changes, which are data. The projector runs the changes of a
 * batch set-wise and commits them with the checkpoint in one transaction.
 *
 * Every projection obeys two laws.
 * - Order: changes of one stream keep their order; changes of different streams commute, because the
 *   projector groups them.
 * - Purity: an event gives the same changes whenever it is projected. No clock, no randomness, no read
 *   outside the projection's own tables.
 */
export type ColumnValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | object;
export type Row = Readonly<Record<string, ColumnValue>>;

/**
 * Order of the changes that several streams make to one row, by log position. The column holds the position of the
 * newest upsert; an older upsert or update of the row does nothing.
 */
export type Precedence = { readonly column: string; readonly position: bigint };

export type Change =
  /** Inserts a row. A row with the same key must not exist. */
  | { readonly kind: 'insert'; readonly table: string; readonly row: Row }
  /** Sets these columns of the row with this key. Inserts the row if it does not exist. */
  | {
      readonly kind: 'upsert';
      readonly table: string;
      readonly key: Row;
      readonly set: Row;
      readonly precedence?: Precedence;
    }
  /** Sets these columns of the row with this key, never columns of the key. Without such a row, does nothing. */
  | {
      readonly kind: 'update';
      readonly table: string;
      readonly key: Row;
      readonly set: Row;
      readonly precedence?: Precedence;
    }
  /**
   * Adds to these columns of the row with this key. Inserts the row, counting from 0, if it does not exist.
   */
  | {
      readonly kind: 'increment';
      readonly table: string;
      readonly key: Row;
      readonly by: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'delete'; readonly table: string; readonly key: Row }
  /** Runs a statement of the projection, once for the rows of all such changes of a batch. */
  | { readonly kind: 'run'; readonly statement: string; readonly row: Row }
  /** Runs a statement like `run`, but at the end of the batch and once for each distinct row, in the order of first changes. */
  | { readonly kind: 'refresh'; readonly statement: string; readonly row: Row };

/**
 * A parameterised statement, for changes that need state in the tables. `:input` in its text stands for the
 * rows, `(select … from unnest(…))`, with the columns named here.
 */
export type Statement = {
  readonly sql: string;
  /** Postgres type by column name. */
  readonly columns: Readonly<Record<string, string>>;
  /** Tables it reads or writes. Changes of these tables keep their order relative to it. */
  readonly touches: readonly string[];
  /** As a refresh, runs after all other refreshes of the batch, because it reads what they write. Absent: in their order. */
  readonly runsLast?: boolean;
};

export type Projection = {
  readonly name: string;
  /**
   * Must be raised with every change of schema or rules. The projector then rebuilds and swaps (blue/green).
   */
  readonly version: number;
  /** Stream-name prefixes, `adLibrary-`: the filter of the subscription. */
  readonly prefixes: readonly string[];
  /**
   * `schema.sql`: tables, then a line `-- indexes`, then the indexes, which a rebuild creates after writing
   * the rows. Names have no schema; the search path sets it.
   */
  readonly schema: URL;
  readonly statements: Readonly<Record<string, Statement>>;
  readonly project: (event: RecordedEvent) => readonly Change[];
};

/** Defines a projection with typed events and returns it as a plain `Projection`. */
export const projection = <F extends Event>(
  definition: Omit<Projection, 'project'> & {
    readonly project: (event: RecordedEvent<F>) => readonly Change[];
  },
): Projection => definition as unknown as Projection;
