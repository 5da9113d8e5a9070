/** A composed statement: text with `$1`… and its values, as slonik's `sql` tag makes it. */
export type ReadQuery = { readonly sql: string; readonly values: readonly unknown[] };

/** What a projection's `read.ts` reads through. */
export type ReadDatabase = {
  /** A hot read, run as a named statement on a pipelined connection. */
  query<Row>(query: ReadQuery): Promise<readonly Row[]>;
  /** A search: custom plan, statement timeout, ordinary pool. */
  slow<Row>(query: ReadQuery): Promise<readonly Row[]>;
};

/**
 * A keyset page. `items` are JSON texts as stored in the read model, passed through unparsed;
 * `next` is the sort key of the last item when more follow.
 */
export type Page = { readonly items: readonly string[]; readonly next: readonly (string | number)[] | null };

/** Where a page starts: the sort key of the last item before it, `null` for the first page. */
export type PageRequest = { readonly limit: number; readonly after: readonly (string | number)[] | null };
