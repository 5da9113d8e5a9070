import { LARGEST_TEXT, pageOfRows } from '../sql/pages.ts';
import type { Item, ItemType } from '#contracts/values/items.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { sql } from '../sql/sql-tag.ts';

type Row = {
  readonly item_type: ItemType;
  readonly item_key: string;
  readonly created_by: string;
  readonly created_at: string;
};

/** Start cursor: sorts after every row. */
const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_TEXT, LARGEST_TEXT] as const;

export const listSavedItems = async (
  db: ReadDatabase,
  workspaceId: string,
  itemType: ItemType | undefined,
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId}`,
    sql.fragment`(created_at, item_type, item_key) < (${sql.list(page.after ?? BEFORE_NEWEST)})`,
    itemType !== undefined && sql.fragment`item_type = ${itemType}`,
  ]);
  const rows = await db.query<Row>(sql.unsafe`
    select item_type, item_key, created_by, created_at from saved.item where ${where}
    order by created_at desc, item_type desc, item_key desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, {
    toItem: (row) => JSON.stringify(row),
    cursorOf: (last) => [last.created_at, last.item_type, last.item_key],
  });
};

const ONE = `
  select item_type, item_key, created_by, created_at from saved.item
  where workspace_id = $1 and item_type = $2 and item_key = $3`;

/** `null` when the item is not saved. */
export const findSavedItem = async (
  db: ReadDatabase,
  workspaceId: string,
  { item_type, item_key }: Item,
): Promise<string | null> => {
  const [row] = await db.query<Row>({ sql: ONE, values: [workspaceId, item_type, item_key] });
  return row ? JSON.stringify(row) : null;
};

const COUNT = 'select count(*)::int as saved_items from saved.item where workspace_id = $1';

export const countSavedItems = async (db: ReadDatabase, workspaceId: string): Promise<number> =>
  (await db.query<{ saved_items: number }>({ sql: COUNT, values: [workspaceId] }))[0]?.saved_items ?? 0;
