import { BEFORE_NEWEST, keysetPage } from '../sql/keyset-page.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { seenBy } from '../sql/collection-visibility.ts';

type Row = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly parent_id: string | null;
  readonly visibility: string;
  readonly created_by: string;
  readonly editors: readonly string[];
  readonly item_count: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly items: string;
};

// Shows the parent only to members who may see it.
const VISIBLE = `
  select c.collection_id as id, c.name, c.description, p.collection_id as parent_id, c.visibility, c.created_by,
    c.editors, c.item_count, c.created_at, c.updated_at, c.items
  from collections.collection c
  left join collections.collection p
    on p.workspace_id = c.workspace_id and p.collection_id = c.parent_id and ${seenBy('p', 2)}
  where c.workspace_id = $1 and ${seenBy('c', 2)}`;

const PAGE = `${VISIBLE} and (c.updated_at, c.collection_id) < ($3, $4::uuid)
  order by c.updated_at desc, c.collection_id desc limit $5`;

const itemOf = ({ items, ...row }: Row): string => appendFields(JSON.stringify(row), { items });

export const listCollections = (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  page: PageRequest,
): Promise<Page> =>
  keysetPage<Row>(
    db,
    {
      sql: PAGE,
      values: [workspaceId, memberId],
      start: BEFORE_NEWEST,
      toItem: itemOf,
      cursorOf: (last) => [last.updated_at, last.id],
    },
    page,
  );

const ONE = `${VISIBLE} and c.collection_id = $3`;

/** `null` when the member sees no such collection. */
export const findCollection = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  collectionId: string,
): Promise<string | null> => {
  const [row] = await db.query<Row>({ sql: ONE, values: [workspaceId, memberId, collectionId] });
  return row ? itemOf(row) : null;
};
