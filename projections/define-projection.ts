import type { Event, RecordedEvent } from '#contracts/events/event.ts';

/**
 * A projection maps events to changes, which are data. The projector runs a batch's changes set-wise and commits them
 * with the checkpoint in one transaction. Order: changes of one stream keep their order; changes of different streams
 * commute. Purity: an event always gives the same changes, without clock, randomness or reads outside the projection's
 * tables.
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

/** Orders several streams' changes to one row: those older than `column`, the newest upsert's position, do nothing. */
export type Precedence = { readonly column: string; readonly position: bigint };

export type Change =
  | { readonly kind: 'insert'; readonly table: string; readonly row: Row }
  /** Sets these columns, and inserts the row if it does not exist. */
  | {
      readonly kind: 'upsert';
      readonly table: string;
      readonly key: Row;
      readonly set: Row;
      readonly precedence?: Precedence;
    }
  /** Sets these columns, never those of the key. Does nothing without such a row. */
  | {
      readonly kind: 'update';
      readonly table: string;
      readonly key: Row;
      readonly set: Row;
      readonly precedence?: Precedence;
    }
  /** Adds to these columns, counting from 0 if the row does not exist. */
  | {
      readonly kind: 'increment';
      readonly table: string;
      readonly key: Row;
      readonly by: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'delete'; readonly table: string; readonly key: Row }
  /** Runs a statement once for the rows of all such changes of a batch. */
  | { readonly kind: 'run'; readonly statement: string; readonly row: Row }
  /** Runs at the end of the batch, once for each distinct row, in the order of first changes. */
  | { readonly kind: 'refresh'; readonly statement: string; readonly row: Row };

/** For changes that need state in the tables. `:input` in the text stands for the rows with the columns named here. */
export type Statement = {
  readonly sql: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Tables it reads or writes; their changes keep their order relative to it. */
  readonly touches: readonly string[];
  /** Columns of the input that select the touched rows of a table; without an entry it may touch any of them. */
  readonly rowsBy?: Readonly<Record<string, readonly string[]>>;
  /** Runs after all other refreshes of the batch, because it reads their result. */
  readonly runsLast?: boolean;
};

export type Projection = {
  readonly name: string;
  /** Raised with every change of schema or rules, so that the projector rebuilds and swaps (blue/green). */
  readonly version: number;
  /** Stream-name prefixes such as `adLibrary-`: the filter of the subscription. */
  readonly prefixes: readonly string[];
  /** Tables, `-- indexes`, then the indexes, which a rebuild creates last. The search path sets the schema. */
  readonly schema: URL;
  readonly statements: Readonly<Record<string, Statement>>;
  readonly project: (event: RecordedEvent) => readonly Change[];
};

export const projection = <F extends Event>(
  definition: Omit<Projection, 'project'> & {
    readonly project: (event: RecordedEvent<F>) => readonly Change[];
  },
): Projection => definition as unknown as Projection;
