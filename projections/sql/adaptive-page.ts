import type { PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Fragment, raw, sql } from './sql-tag.ts';

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

export type AdaptiveList = {
  /** Reads rows `s` in the order of an index. */
  readonly scan: { readonly columns: Fragment; readonly from: Fragment; readonly order: Fragment };
  /** Table of the conditions; `key` is common to it and the scan. */
  readonly filterTable: { readonly from: Fragment; readonly key: Fragment };
  /** Columns of shown rows `s`, joined by the key. `key` is the text of `place` and never null. */
  readonly show: { readonly columns: Fragment; readonly joins: Fragment };
  readonly order: Fragment;
};

export type AdaptiveFilter = {
  /** Conditions that the index of the scan serves, such as the cursor. */
  readonly where: Fragment;
  /** Without conditions every row of the scan is shown. */
  readonly conditions: readonly Fragment[];
  /** Overrides `EXPECTED_PAGES`; lower for wide rows of which far more match than a scan meets. */
  readonly expectedPages?: number;
};

export const readAdaptivePage = async <Row extends { readonly key: string }>(
  db: ReadDatabase,
  { scan, filterTable: { from, key }, show, order }: AdaptiveList,
  { where, conditions, expectedPages = EXPECTED_PAGES }: AdaptiveFilter,
  { limit }: PageRequest,
): Promise<readonly Row[]> => {
  const ordered = sql.fragment`select ${scan.columns} from ${scan.from} where ${where} order by ${scan.order}`;
  const shown = (rows: Fragment) => sql.fragment`
    select ${show.columns} from (${rows} limit ${limit + 1}) s ${show.joins} order by ${order} limit ${limit + 1}`;
  if (conditions.length === 0) return db.query<Row>(shown(ordered));
  const matching = sql.fragment`select ${key} from ${from} where ${sql.and(conditions)}`;
  for (let rows: number = SHORT_SCAN_ROWS; ; ) {
    // `offset 0` keeps this a lookup by key for each scanned row; the planner may otherwise search all matches first.
    const scanned = await db.query<Row & { readonly scanned_rows: number }>(sql.unsafe`
      with scanned as materialized (${ordered} limit ${raw(`${rows}`)}), shown as materialized (
        ${shown(sql.fragment`
          select * from scanned s where exists (${matching} and ${key} = s.${key} offset 0) order by ${order}`)}
      )
      select shown.*, w.rows as scanned_rows
      from (select count(*)::int as rows from scanned) w left join shown on true`);
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
  return db.slow<Row>(sql.unsafe`
    with found as materialized (
      select ${scan.columns} from (
        select s.* from ${scan.from} where s.${key} = any(array(${matching})) offset 0
      ) s where ${where}
    )
    ${shown(sql.fragment`select * from found s order by ${order}`)}`);
};
