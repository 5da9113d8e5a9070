import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

/**
 * A page of a list by conditions that no index serves together with the order. Common conditions are met early on
 * a walk along the order; rare ones are found by their own indexes, and sorted. Which they are, a planner can only
 * guess, and a wrong guess takes seconds: so a short walk comes first, then the shortest of the longer ones of which
 * what it met promises that this fills the page, and else everything that fits is looked for.
 */

/** Rows that the walks look at: one or two milliseconds, and ten for the longest. */
const SHORT_WALK_ROWS = 500;
const LONGER_WALKS_ROWS: readonly number[] = [1_500, 5_000];
/** A longer one has to promise the page so many times over: a walk in vain costs as much as the looking-for. */
const PROMISED_PAGES = 2;

export type ListQuery = {
  /** What is walked along: rows `s` of keys with their `place` in the order. */
  readonly walk: {
    readonly columns: string;
    readonly from: string;
    readonly where: readonly string[];
    readonly order: string;
  };
  /** What is shown of rows `s` of a walk: `select …, place as key from <rows> s join …`; no `key` is null. */
  readonly show: (rows: string) => string;
  /** Where the conditions look: a table with its alias, and the key that it has in common with the walk. */
  readonly looksAt: { readonly table: string; readonly alias: string; readonly key: string };
  /** None: every row of the walk is shown. */
  readonly conditions: readonly string[];
  /** See `PROMISED_PAGES`: fewer where what is looked for are wide rows, far more of them than a walk meets. */
  readonly promisedPages?: number;
  /** By `place` and key of rows `s`. */
  readonly order: string;
  /** From `$2` on; `$1` is the number of rows to show. */
  readonly values: readonly unknown[];
};

/** The rows of the page, and one more where there are more. */
export const readWalked = async <Row extends { readonly key: string }>(
  db: ReadDatabase,
  { walk, show, looksAt, conditions, promisedPages = PROMISED_PAGES, order, values }: ListQuery,
  { limit }: PageRequest,
): Promise<readonly Row[]> => {
  const all = [limit + 1, ...values];
  const where = walk.where.join(' and ');
  const ordered = `select ${walk.columns} from ${walk.from} where ${where} order by ${walk.order}`;
  if (conditions.length === 0) {
    return db.query<Row>({ sql: `${show(`(${ordered} limit $1)`)} order by ${order} limit $1`, values: all });
  }
  const { table, alias, key } = looksAt;
  // `offset 0` keeps this a look-up by key for each row of the walk, which ends with the page: a planner that knows
  // no words else finds everything that fits them, to meet a few of it on the walk.
  const met = `exists (
    select from ${table} ${alias} where ${alias}.${key} = s.${key} and ${conditions.join(' and ')} offset 0)`;
  for (let rows: number = SHORT_WALK_ROWS; ; ) {
    const walked = await db.query<Row & { readonly walked_rows: number }>({
      sql: `
        with walked as materialized (${ordered} limit ${rows}), shown as materialized (
          ${show(`(select * from walked s where ${met} order by ${order} limit $1)`)} order by ${order} limit $1
        )
        select shown.*, w.rows as walked_rows
        from (select count(*)::int as rows from walked) w left join shown on true`,
      values: all,
    });
    // Of a walk that met nothing there is one row, which says only how far it went.
    const found = walked.filter((row) => (row.key as string | null) !== null);
    if (found.length > limit || (walked[0]?.walked_rows ?? 0) < rows) return found;
    const longer = LONGER_WALKS_ROWS.find(
      (most) => most > rows && (found.length * most) / rows > limit * promisedPages,
    );
    if (longer === undefined) break;
    rows = longer;
  }
  // From what was found to its place by the key alone, all at once: sorted keys share their way through the index. With
  // the rest of the condition beside it a planner goes along the order after all, and tries each row on all keys.
  return db.slow<Row>({
    sql: `
      with found as materialized (
        select ${walk.columns} from (
          select s.* from ${walk.from} where s.${key} = any(array(
            select ${alias}.${key} from ${table} ${alias} where ${conditions.join(' and ')}
          )) offset 0
        ) s where ${where}
      )
      ${show(`(select * from found s order by ${order} limit $1)`)} order by ${order} limit $1`,
    values: all,
  });
};
