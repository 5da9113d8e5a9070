import { BEFORE_NEWEST, LARGEST_BIGINT, LARGEST_TEXT, pageOfRows } from '../sql/pages.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { seenBy } from '../sql/collection-visibility.ts';
import { sql } from '../sql/sql-tag.ts';

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

/** Shows the parent only to members who may see it. */
const visibleTo = (workspaceId: string, memberId: string) => sql.fragment`
  select c.collection_id as id, c.name, c.description, p.collection_id as parent_id, c.visibility, c.created_by,
    c.editors, c.item_count, c.created_at, c.updated_at, c.items
  from collections.collection c
  left join collections.collection p
    on p.workspace_id = c.workspace_id and p.collection_id = c.parent_id and ${seenBy('p', memberId)}
  where c.workspace_id = ${workspaceId} and ${seenBy('c', memberId)}`;

const itemOf = ({ items, ...row }: Row): string => appendFields(JSON.stringify(row), { items });

export const listCollections = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  page: PageRequest,
): Promise<Page> => {
  const rows = await db.query<Row>(sql.unsafe`
    ${visibleTo(workspaceId, memberId)}
      and (c.updated_at, c.collection_id) < (${sql.list(page.after ?? BEFORE_NEWEST)})
    order by c.updated_at desc, c.collection_id desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, { toItem: itemOf, cursorOf: (last) => [last.updated_at, last.id] });
};

/** `null` when the member sees no such collection. */
export const findCollection = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  collectionId: string,
): Promise<string | null> => {
  const [row] = await db.query<Row>(sql.unsafe`
    ${visibleTo(workspaceId, memberId)} and c.collection_id = ${collectionId}`);
  return row ? itemOf(row) : null;
};

/** Newest first. `null` when the member sees no such collection. */
export const listCollectionItems = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  collectionId: string,
  page: PageRequest,
): Promise<Page | null> => {
  const after = page.after ?? [LARGEST_TEXT, LARGEST_BIGINT];
  type ItemRow = { readonly doc: string | null; readonly created_at: string; readonly position: string };
  const rows = await db.query<ItemRow>(sql.unsafe`
    select i.doc, i.created_at, i.position::text from collections.collection c
    left join lateral (
      select doc, created_at, position from collections.item
      where workspace_id = c.workspace_id and collection_id = c.collection_id
        and (created_at, position) < (${sql.list(after)})
      order by created_at desc, position desc limit ${page.limit + 1}
    ) i on true
    where c.workspace_id = ${workspaceId} and c.collection_id = ${collectionId} and ${seenBy('c', memberId)}
    order by i.created_at desc, i.position desc`);
  if (rows.length === 0) return null;
  return pageOfRows(
    rows.filter(({ doc }) => doc !== null),
    page.limit,
    { toItem: ({ doc }) => doc, cursorOf: (last) => [last.created_at, last.position] },
  );
};
