/** A composed statement: text with `$1`… and its values, as slonik's `sql` tag creates it. */
export type ReadQuery = { readonly sql: string; readonly values: readonly unknown[] };

/** Database access of a projection's `read.ts`. */
export type ReadDatabase = {
  /** Runs a light read, which finds its rows by an index, as a named statement on a pipelined connection. */
  query<Row>(query: ReadQuery): Promise<readonly Row[]>;
  /** Runs a heavy read, such as a search: with a plan for its values, on one of few connections. */
  slow<Row>(query: ReadQuery): Promise<readonly Row[]>;
};

/**
 * One page of a keyset-paginated list. `items` are JSON texts as stored in the read model and are passed on
 * unparsed. `next` is the sort key of the last item, or `null` when there are no more items.
 */
export type Page = { readonly items: readonly string[]; readonly next: readonly (string | number)[] | null };

/** Start of a page: the sort key of the previous page's last item, `null` for the first page. */
export type PageRequest = { readonly limit: number; readonly after: readonly (string | number)[] | null };
