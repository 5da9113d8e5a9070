import type { Event, RecordedEvent } from '#contracts/events/event.ts';

/**
 * The shape of a projection: events to changes as data. The projector runs the changes of a batch set-wise
 * and commits them with the checkpoint.
 *
 * Two laws hold for every projection. Changes of one stream keep their order; changes of different streams
 * commute, since the projector groups them. And an event gives the same changes whenever it is projected: no
 * clock, no randomness, no look-up outside the projection's own tables.
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

export type Change =
  /** A new row; one with the same key must not exist. */
  | { readonly kind: 'insert'; readonly table: string; readonly row: Row }
  /** Sets the given columns of the row with this key, making it where it is absent. */
  | { readonly kind: 'upsert'; readonly table: string; readonly key: Row; readonly set: Row }
  /** Sets the given columns of the row with this key; where it is absent, nothing. */
  | { readonly kind: 'update'; readonly table: string; readonly key: Row; readonly set: Row }
  /** Adds to the given columns of the row with this key, making it (from 0) where it is absent. */
  | {
      readonly kind: 'increment';
      readonly table: string;
      readonly key: Row;
      readonly by: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'delete'; readonly table: string; readonly key: Row }
  /** A statement of the projection, run once for the rows of all such changes of a batch. */
  | { readonly kind: 'run'; readonly statement: string; readonly row: Row }
  /** Likewise, but at the end of the batch and once for each distinct row. */
  | { readonly kind: 'refresh'; readonly statement: string; readonly row: Row };

/**
 * A parameterised statement where state in the tables is needed. `:input` in its text stands for the rows,
 * `(select … from unnest(…))`, with the columns named here.
 */
export type Statement = {
  readonly sql: string;
  /** Column name to Postgres type. */
  readonly columns: Readonly<Record<string, string>>;
  /** Tables it reads or writes; changes of these keep their order around it. */
  readonly touches: readonly string[];
};

export type Projection = {
  readonly name: string;
  /** Raised with every change of schema or rules: the projector then builds the new one beside and swaps. */
  readonly version: number;
  /** Stream-name prefixes, `adLibrary-`: the filter of the subscription. */
  readonly prefixes: readonly string[];
  /**
   * `schema.sql`: tables, then a line `-- indexes`, then the indexes, which a rebuild makes when the rows are
   * in. Names are bare; the schema is set by the search path.
   */
  readonly schema: URL;
  readonly statements: Readonly<Record<string, Statement>>;
  readonly project: (event: RecordedEvent) => readonly Change[];
};

/** A projection whose events are known by type, as a plain `Projection`. */
export const projection = <F extends Event>(
  definition: Omit<Projection, 'project'> & {
    readonly project: (event: RecordedEvent<F>) => readonly Change[];
  },
): Projection => definition as unknown as Projection;
