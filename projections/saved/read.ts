import { LARGEST_TEXT, keysetPage } from '../sql/keyset-page.ts';
import type { Item, ItemType } from '#contracts/values/items.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

type Row = {
  readonly item_type: ItemType;
  readonly item_key: string;
  readonly created_by: string;
  readonly created_at: string;
};

/** Start cursor: sorts after every row. */
const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_TEXT, LARGEST_TEXT] as const;

const pageOf = (typed: boolean): string => `
  select item_type, item_key, created_by, created_at from saved.item
  where workspace_id = $1 and (created_at, item_type, item_key) < ($2, $3, $4) ${typed ? 'and item_type = $6' : ''}
  order by created_at desc, item_type desc, item_key desc limit $5`;

const PAGE = pageOf(false);
const PAGE_OF_TYPE = pageOf(true);

export const listSavedItems = (
  db: ReadDatabase,
  workspaceId: string,
  itemType: ItemType | undefined,
  page: PageRequest,
): Promise<Page> =>
  keysetPage<Row>(
    db,
    {
      sql: itemType === undefined ? PAGE : PAGE_OF_TYPE,
      values: [workspaceId],
      start: BEFORE_NEWEST,
      filters: itemType === undefined ? [] : [itemType],
      toItem: (row) => JSON.stringify(row),
      cursorOf: (last) => [last.created_at, last.item_type, last.item_key],
    },
    page,
  );

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
