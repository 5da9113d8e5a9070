import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

/**
 * Reads lists whose conditions and order share no index. The planner must guess whether matches are frequent, and a
 * wrong guess takes seconds. So a short scan runs first, then the shortest longer scan expected to fill the page; if
 * none is, all matches are searched and sorted.
 */

/** Rows per scan: 1 to 2 ms for the short one, 10 ms for the longest. */
const SHORT_SCAN_ROWS = 500;
const LONGER_SCANS_ROWS: readonly number[] = [1_500, 5_000];
/** A longer scan must be expected to find this many pages, because one without success costs as much as the search. */
const EXPECTED_PAGES = 2;

export type ListQuery = {
  readonly scan: {
    readonly columns: string;
    readonly from: string;
    readonly where: readonly string[];
    readonly order: string;
  };
  /** SQL `select …, place as key from <rows> s join …` of the shown columns; `key` is never null. */
  readonly show: (rows: string) => string;
  /** `key` is common to the table and the scan. */
  readonly filterTable: { readonly table: string; readonly alias: string; readonly key: string };
  /** Without conditions every row of the scan is shown. */
  readonly conditions: readonly string[];
  /** Overrides `EXPECTED_PAGES`; lower for wide rows of which far more match than a scan meets. */
  readonly expectedPages?: number;
  readonly order: string;
  /** From `$2` on; `$1` is the number of rows to show. */
  readonly values: readonly unknown[];
};

export const readAdaptivePage = async <Row extends { readonly key: string }>(
  db: ReadDatabase,
  { scan, show, filterTable, conditions, expectedPages = EXPECTED_PAGES, order, values }: ListQuery,
  { limit }: PageRequest,
): Promise<readonly Row[]> => {
  const all = [limit + 1, ...values];
  const where = scan.where.join(' and ');
  const ordered = `select ${scan.columns} from ${scan.from} where ${where} order by ${scan.order}`;
  if (conditions.length === 0) {
    return db.query<Row>({ sql: `${show(`(${ordered} limit $1)`)} order by ${order} limit $1`, values: all });
  }
  const { table, alias, key } = filterTable;
  // `offset 0` keeps this a lookup by key for each scanned row; the planner may otherwise search all matches first.
  const matches = `exists (
    select from ${table} ${alias} where ${alias}.${key} = s.${key} and ${conditions.join(' and ')} offset 0)`;
  for (let rows: number = SHORT_SCAN_ROWS; ; ) {
    const scanned = await db.query<Row & { readonly scanned_rows: number }>({
      sql: `
        with scanned as materialized (${ordered} limit ${rows}), shown as materialized (
          ${show(`(select * from scanned s where ${matches} order by ${order} limit $1)`)} order by ${order} limit $1
        )
        select shown.*, w.rows as scanned_rows
        from (select count(*)::int as rows from scanned) w left join shown on true`,
      values: all,
    });
    // A scan without a match returns one row with the scan's length only.
    const found = scanned.filter((row) => (row.key as string | null) !== null);
    if (found.length > limit || (scanned[0]?.scanned_rows ?? 0) < rows) return found;
    const longer = LONGER_SCANS_ROWS.find(
      (most) => most > rows && (found.length * most) / rows > limit * expectedPages,
    );
    if (longer === undefined) break;
    rows = longer;
  }
  // Looks up the matches by key alone, all at once: sorted keys share index pages. With other conditions in the query,
  // the planner would test each scanned row against all keys.
  return db.slow<Row>({
    sql: `
      with found as materialized (
        select ${scan.columns} from (
          select s.* from ${scan.from} where s.${key} = any(array(
            select ${alias}.${key} from ${table} ${alias} where ${conditions.join(' and ')}
          )) offset 0
        ) s where ${where}
      )
      ${show(`(select * from found s order by ${order} limit $1)`)} order by ${order} limit $1`,
    values: all,
  });
};
