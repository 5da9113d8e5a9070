import type { Page } from '#contracts/ports/read-database.ts';

/** Sort key of the previous page's last row (keyset pagination). */

export type Cursor = readonly (string | number)[];

export const SMALLEST_UUID = '00000000-0000-0000-0000-000000000000';
export const LARGEST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
export const LARGEST_BIGINT = '9223372036854775807';
/** Sorts after the times, dates, ids and slugs of sort keys. */
export const LARGEST_TEXT = '~';

/** Start cursor of a list by time and id, so the first page needs no special case. */
export const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_UUID] as const;

export type RowPage<Row, C extends Cursor = Cursor> = {
  readonly rows: readonly Row[];
  readonly next: C | null;
};

export const cutPage = <Row, C extends Cursor>(
  found: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => C,
): RowPage<Row, C> => {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last !== undefined ? cursorOf(last) : null };
};

export type ItemsOfRows<Row> = {
  /** `null` leaves the row out of its page. */
  readonly toItem: (row: Row) => string | null;
  readonly cursorOf: (last: Row) => Cursor;
};

export const pageOfRows = <Row>(
  found: readonly Row[],
  limit: number,
  { toItem, cursorOf }: ItemsOfRows<Row>,
): Page => {
  const { rows, next } = cutPage(found, limit, cursorOf);
  return { items: rows.map(toItem).filter((item) => item !== null), next };
};

/** `asOf` has an entry for each row of the page, also for those without an item. */
export type DatedPage<AsOf = string | null> = Page & { readonly asOf: readonly AsOf[] };

export const datedPageOfRows = <Row extends { readonly item: string | null; readonly as_of: string | null }>(
  found: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => Cursor,
): DatedPage<Row['as_of']> => ({
  ...pageOfRows(found, limit, { toItem: ({ item }) => item, cursorOf }),
  asOf: found.slice(0, limit).map((row) => row.as_of),
});
