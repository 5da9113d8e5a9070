import { COLLECTION, type CollectionEvent } from '#contracts/events/workspace/collection.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Item } from '#contracts/values/items.ts';
import { COLLECTION_ITEMS_SHOWN_MAX } from '#contracts/resources/workspace/collection.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

type Named = { readonly workspace_id: string; readonly collection_id: string };

/** The latest change of an item wins, in any order of the collection's two streams. */
const PLACE = `
  insert into item as t (workspace_id, collection_id, item_type, item_key, position, present, created_at, doc)
  select distinct on (workspace_id, collection_id, item_type, item_key)
    workspace_id, collection_id, item_type, item_key, position, present, created_at, doc
  from :input i
  order by workspace_id, collection_id, item_type, item_key, position desc
  on conflict (workspace_id, collection_id, item_type, item_key) do update
  set position = excluded.position, present = excluded.present, created_at = excluded.created_at, doc = excluded.doc
  where excluded.position > t.position`;

/** Runs at the end of a batch, because an item may be added while its collection is deleted. */
const SETTLE = `
  with touched as (
    select workspace_id, collection_id, max(at collate "C") as at from :input i group by workspace_id, collection_id
  ), gone as (
    delete from item using touched t
    where item.workspace_id = t.workspace_id and item.collection_id = t.collection_id
      and (not item.present or not exists (
        select from collection c where c.workspace_id = t.workspace_id and c.collection_id = t.collection_id
      ))
  )
  update collection c
  set updated_at = greatest(c.updated_at, t.at), item_count = shown.item_count, items = shown.items
  from touched t cross join lateral (
    select count(*)::int as item_count,
      '[' || coalesce(
        string_agg(doc, ',' order by place) filter (where place <= ${COLLECTION_ITEMS_SHOWN_MAX}), ''
      ) || ']' as items
    from (
      select doc, row_number() over (order by created_at desc, position desc) as place from item i
      where i.workspace_id = t.workspace_id and i.collection_id = t.collection_id and i.present
    ) placed
  ) shown
  where c.workspace_id = t.workspace_id and c.collection_id = t.collection_id`;

/** Applies the domain's rule of visibility (`collection.ts`) from the top of each tree down. */
const OVERSEE = `
  with recursive tree as (
    select c.workspace_id, c.collection_id,
      case when c.visibility = 'private' then array_prepend(c.created_by, c.editors) end as audience
    from collection c join :input i on i.workspace_id = c.workspace_id
    where c.parent_id is null
    union all
    select c.workspace_id, c.collection_id,
      case
        when c.visibility = 'private' then array_prepend(c.created_by, c.editors)
        when t.audience is not null then t.audience || array_prepend(c.created_by, c.editors)
      end
    from tree t join collection c on c.workspace_id = t.workspace_id and c.parent_id = t.collection_id
  )
  update collection c set audience = t.audience from tree t
  where c.workspace_id = t.workspace_id and c.collection_id = t.collection_id
    and c.audience is distinct from t.audience`;

const settle = ({ workspace_id, collection_id }: Named, at: string): Change => ({
  kind: 'refresh',
  statement: 'settle',
  row: { workspace_id, collection_id, at },
});

const oversee = ({ workspace_id }: Named): Change => ({
  kind: 'refresh',
  statement: 'oversee',
  row: { workspace_id },
});

const place = (
  { workspace_id, collection_id }: Named,
  { item_type, item_key }: Item,
  position: bigint,
  placed: { readonly created_by: string; readonly created_at: string } | null,
): Change => ({
  kind: 'run',
  statement: 'place',
  row: {
    workspace_id,
    collection_id,
    item_type,
    item_key,
    position,
    present: placed !== null,
    created_at: placed?.created_at ?? '',
    doc: placed ? JSON.stringify({ item_type, item_key, ...placed }) : '',
  },
});

const update = (
  { workspace_id, collection_id, changed_at }: Named & { readonly changed_at: string },
  set: Row,
): Change[] => [
  { kind: 'update', table: 'collection', key: { workspace_id, collection_id }, set },
  settle({ workspace_id, collection_id }, changed_at),
];

const project = (event: RecordedEvent<CollectionEvent>): readonly Change[] => {
  const { workspace_id, collection_id } = event.data;
  const key = { workspace_id, collection_id };
  switch (event.type) {
    case 'CollectionCreated': {
      const { first_item, created_by, created_at, ...described } = event.data;
      const row = { ...described, created_by, created_at, updated_at: created_at };
      return [
        { kind: 'insert', table: 'collection', row },
        ...(first_item ? [place(key, first_item, event.position, { created_by, created_at })] : []),
        settle(key, created_at),
        oversee(key),
      ];
    }
    case 'CollectionRenamed':
      return update(event.data, { name: event.data.name });
    case 'CollectionDescribed':
      return update(event.data, { description: event.data.description });
    case 'CollectionMoved':
      return [...update(event.data, { parent_id: event.data.parent_id }), oversee(key)];
    case 'CollectionVisibilityChanged':
      return [...update(event.data, { visibility: event.data.visibility }), oversee(key)];
    case 'CollectionEditorsChanged':
      return [...update(event.data, { editors: event.data.editors }), oversee(key)];
    case 'CollectionDeleted':
      return [collection_id, ...event.data.inside].flatMap((id): Change[] => [
        { kind: 'delete', table: 'collection', key: { workspace_id, collection_id: id } },
        settle({ workspace_id, collection_id: id }, event.data.deleted_at),
      ]);
    case 'CollectionItemAdded': {
      const { added_by, added_at } = event.data;
      const placed = { created_by: added_by, created_at: added_at };
      return [place(key, event.data, event.position, placed), settle(key, added_at)];
    }
    case 'CollectionItemRemoved':
      return [place(key, event.data, event.position, null), settle(key, event.data.removed_at)];
  }
};

export const collections = projection<CollectionEvent>({
  name: 'collections',
  version: 1,
  prefixes: [`${COLLECTION}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    place: {
      sql: PLACE,
      columns: {
        workspace_id: 'text',
        collection_id: 'uuid',
        item_type: 'text',
        item_key: 'text',
        position: 'bigint',
        present: 'boolean',
        created_at: 'text',
        doc: 'text',
      },
      touches: ['item'],
    },
    settle: {
      sql: SETTLE,
      columns: { workspace_id: 'text', collection_id: 'uuid', at: 'text' },
      touches: ['collection', 'item'],
    },
    oversee: { sql: OVERSEE, columns: { workspace_id: 'text' }, touches: ['collection'] },
  },
  project,
});
