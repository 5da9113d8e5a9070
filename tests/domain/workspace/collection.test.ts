import { describe, expect, test } from 'vitest';
import type {
  CollectionItemEvent,
  CollectionTreeEvent,
  Visibility,
} from '#contracts/events/workspace/collection.ts';
import {
  COLLECTION_DEPTH_MAX,
  COLLECTION_ITEMS_MAX,
  COLLECTIONS_MAX,
} from '#contracts/resources/workspace/collection.ts';
import {
  addCollectionItem,
  collectionItems,
  itemsOf,
  removeCollectionItem,
} from '#domain/workspace/collection/items.ts';
import {
  type Asking,
  changeCollection,
  type CollectionChange,
  collectionTree,
  createCollection,
  DELETED_COLLECTIONS_KEPT,
  deleteCollection,
  seesCollection,
} from '#domain/workspace/collection/decider.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const workspace_id = 'ws_1';
const ada: Asking = { member_id: 'ada', role: 'editor' };
const bea: Asking = { member_id: 'bea', role: 'editor' };
const owner: Asking = { member_id: 'owner', role: 'owner' };

type Options = {
  readonly parent_id?: string;
  readonly visibility?: Visibility;
  readonly editors?: readonly string[];
  readonly created_by?: string;
};
const created = (collection_id: string, options: Options = {}): CollectionTreeEvent => ({
  type: 'CollectionCreated',
  data: {
    workspace_id,
    collection_id,
    name: collection_id,
    description: null,
    parent_id: options.parent_id ?? null,
    visibility: options.visibility ?? 'workspace',
    editors: options.editors ?? [],
    first_item: null,
    created_by: options.created_by ?? 'ada',
    created_at: AT,
  },
});
const create = (collection_id: string, by: Asking, options: Options = {}) =>
  createCollection({
    workspace_id,
    collection_id,
    name: collection_id,
    description: null,
    parent_id: options.parent_id ?? null,
    visibility: options.visibility ?? 'workspace',
    editors: options.editors ?? [],
    first_item: null,
    by,
    at: AT,
  });
const change = (collection_id: string, by: Asking, changed: CollectionChange) =>
  changeCollection({ workspace_id, collection_id, by, at: AT, change: changed });
const remove = (collection_id: string, by: Asking) =>
  deleteCollection({ workspace_id, collection_id, by, at: AT });
const about = (collection_id: string, by: string) => ({
  workspace_id,
  collection_id,
  changed_by: by,
  changed_at: AT,
});
const nested = (levels: number): CollectionTreeEvent[] =>
  Array.from({ length: levels }, (_, level) =>
    created(`level-${level + 1}`, level === 0 ? {} : { parent_id: `level-${level}` }),
  );

describe('createCollection', () => {
  test('creates the collection', () => given(collectionTree).when(create('a', ada)).records(created('a')));
  test('stores editors sorted, without duplicates and without the creator', () =>
    given(collectionTree)
      .when(create('a', ada, { editors: ['cy', 'ada', 'bea', 'cy'] }))
      .records(created('a', { editors: ['bea', 'cy'] })));
  test('records nothing for the id of a deleted collection', () =>
    given(collectionTree, created('a'), {
      type: 'CollectionDeleted',
      data: { workspace_id, collection_id: 'a', inside: [], deleted_by: 'ada', deleted_at: AT },
    })
      .when(create('a', ada))
      .records());
  test('refuses a parent that the member does not see', () =>
    given(collectionTree, created('hidden', { visibility: 'private' }))
      .when(create('a', owner, { parent_id: 'hidden' }))
      .refuses('not_found'));
  test('refuses a nesting that is too deep', () =>
    given(collectionTree, ...nested(COLLECTION_DEPTH_MAX))
      .when(create('a', ada, { parent_id: `level-${COLLECTION_DEPTH_MAX}` }))
      .refuses('limit_reached'));
  test('refuses a collection above the maximum number', () =>
    given(collectionTree, ...Array.from({ length: COLLECTIONS_MAX }, (_, index) => created(`${index}`)))
      .when(create('a', ada))
      .refuses('limit_reached'));
});

describe('changeCollection', () => {
  test('records one event for each changed field', () =>
    given(collectionTree, created('a'), created('b'))
      .when(change('a', bea, { name: 'boots', description: 'all', parent_id: 'b', visibility: 'workspace' }))
      .records(
        { type: 'CollectionRenamed', data: { ...about('a', 'bea'), name: 'boots' } },
        { type: 'CollectionDescribed', data: { ...about('a', 'bea'), description: 'all' } },
        { type: 'CollectionMoved', data: { ...about('a', 'bea'), parent_id: 'b' } },
      ));
  test('records nothing when all fields have their present values', () =>
    given(collectionTree, created('a', { editors: ['bea', 'cy'] }))
      .when(
        change('a', bea, { name: 'a', description: null, parent_id: null, editors: ['cy', 'bea', 'ada'] }),
      )
      .records());
  test('lets the creator change visibility and editors', () =>
    given(collectionTree, created('a'))
      .when(change('a', ada, { visibility: 'private', editors: ['bea'] }))
      .records(
        { type: 'CollectionVisibilityChanged', data: { ...about('a', 'ada'), visibility: 'private' } },
        { type: 'CollectionEditorsChanged', data: { ...about('a', 'ada'), editors: ['bea'] } },
      ));
  test('lets an owner who sees it change visibility and editors', () =>
    given(collectionTree, created('a'))
      .when(change('a', owner, { editors: ['bea'] }))
      .records({ type: 'CollectionEditorsChanged', data: { ...about('a', 'owner'), editors: ['bea'] } }));
  test('refuses a change that hides the collection from the member who makes it', () =>
    given(collectionTree, created('a'))
      .when(change('a', owner, { visibility: 'private', editors: ['bea'] }))
      .refuses('shuts_out'));
  test('refuses changes of visibility and editors by other members', () =>
    given(collectionTree, created('a'))
      .when(change('a', bea, { visibility: 'private' }))
      .refuses('not_yours'));
  test('refuses a private collection as not found to members who do not see it, owners included', () =>
    given(collectionTree, created('a', { visibility: 'private' }))
      .when(change('a', owner, { name: 'x' }))
      .refuses('not_found'));
  test.each(['level-1', 'level-2', 'level-3'])(
    'refuses to move a collection into %s, which is inside it',
    (parent_id) =>
      given(collectionTree, ...nested(3))
        .when(change('level-1', ada, { parent_id }))
        .refuses('inside_itself'),
  );
  test('refuses a move that makes the nesting too deep', () =>
    given(collectionTree, ...nested(COLLECTION_DEPTH_MAX - 1), created('a'), created('b', { parent_id: 'a' }))
      .when(change('a', ada, { parent_id: `level-${COLLECTION_DEPTH_MAX - 1}` }))
      .refuses('limit_reached'));
});

describe('deleteCollection', () => {
  test('deletes everything inside, including what the member does not see', () =>
    given(
      collectionTree,
      ...nested(3),
      created('hidden', { parent_id: 'level-2', visibility: 'private' }),
      created('beside'),
    )
      .when(remove('level-1', bea))
      .records({
        type: 'CollectionDeleted',
        data: {
          workspace_id,
          collection_id: 'level-1',
          inside: ['level-2', 'hidden', 'level-3'],
          deleted_by: 'bea',
          deleted_at: AT,
        },
      }));
  test('refuses a deleted private collection as not found to members who did not see it', () => {
    const hidden = created('hidden', { visibility: 'private' });
    given(collectionTree, hidden).when(remove('hidden', bea)).refuses('not_found');
    const deleted = remove('hidden', ada)(collectionTree.evolve(collectionTree.initial, hidden));
    given(collectionTree, hidden, ...deleted)
      .when(remove('hidden', bea))
      .refuses('not_found');
    given(collectionTree, hidden, ...deleted)
      .when(remove('hidden', ada))
      .records();
  });
});

describe('deleted collections', () => {
  const deleted = (collection_id: string, inside: readonly string[] = []): CollectionTreeEvent => ({
    type: 'CollectionDeleted',
    data: { workspace_id, collection_id, inside, deleted_by: 'ada', deleted_at: AT },
  });
  const others = (count: number): readonly CollectionTreeEvent[] =>
    Array.from({ length: count }, (_, place) => [
      created(`other-${place}`),
      deleted(`other-${place}`),
    ]).flat();
  test('records nothing for one that was deleted before fewer others than are kept', () =>
    given(collectionTree, created('a'), deleted('a'), ...others(DELETED_COLLECTIONS_KEPT - 1))
      .when(remove('a', ada))
      .records());
  test('refuses one that was deleted long ago as not found', () =>
    given(collectionTree, created('a'), deleted('a'), ...others(2 * DELETED_COLLECTIONS_KEPT))
      .when(remove('a', ada))
      .refuses('not_found'));
  test('records nothing for one that was deleted with more collections inside than are kept', () => {
    const inside = Array.from({ length: COLLECTIONS_MAX - 1 }, (_, place) => `inside-${place}`);
    const tree = [created('a'), ...inside.map((id) => created(id, { parent_id: 'a' })), deleted('a', inside)];
    given(collectionTree, ...tree)
      .when(remove('a', ada))
      .records();
  });
});

describe('seesCollection', () => {
  const tree = [
    created('folder', { visibility: 'private', created_by: 'ada', editors: ['bea'] }),
    created('inside', { parent_id: 'folder', created_by: 'cy', editors: ['dee'] }),
    created('deeper', { parent_id: 'inside', created_by: 'ada' }),
    created('secret', { parent_id: 'inside', created_by: 'eve', visibility: 'private' }),
  ].reduce(collectionTree.evolve, collectionTree.initial);
  test.each([
    ['folder', ['ada', 'bea']],
    ['inside', ['ada', 'bea', 'cy', 'dee']],
    ['deeper', ['ada', 'bea', 'cy', 'dee']],
    ['secret', ['eve']],
  ])('shows the collection %s only to its audience', (id, expected) => {
    const members = ['ada', 'bea', 'cy', 'dee', 'eve', 'fay'];
    expect(members.filter((member) => seesCollection(tree, id, member))).toEqual(expected);
  });
});

describe('items of a collection', () => {
  const item = { item_type: 'ad', item_key: '12345' } as const;
  const command = { workspace_id, collection_id: 'a', item, by: 'bea', at: AT };
  const empty = collectionItems({ first_item: null, created_by: 'ada', created_at: AT });
  const withFirst = collectionItems({ first_item: item, created_by: 'ada', created_at: AT });
  const added = (item_key: string): CollectionItemEvent => ({
    type: 'CollectionItemAdded',
    data: { workspace_id, collection_id: 'a', item_type: 'ad', item_key, added_by: 'bea', added_at: AT },
  });
  const removed: CollectionItemEvent = {
    type: 'CollectionItemRemoved',
    data: { workspace_id, collection_id: 'a', ...item, removed_by: 'bea', removed_at: AT },
  };
  test('adds an item', () => given(empty).when(addCollectionItem(command)).records(added('12345')));
  test('records nothing when the item is already in the collection', () =>
    given(empty, added('12345')).when(addCollectionItem(command)).records());
  test('records nothing for the item that the collection was created with', () =>
    given(withFirst).when(addCollectionItem(command)).records());
  test('removes an item', () => given(withFirst).when(removeCollectionItem(command)).records(removed));
  test('records nothing when the item to remove is absent', () =>
    given(withFirst, removed).when(removeCollectionItem(command)).records());
  test('lists items newest first, and items of the same time in reverse order of the log', () => {
    const events = [added('11111'), added('22222'), removed, added('12345')];
    const { items, changed_at } = itemsOf(events.reduce(withFirst.evolve, withFirst.initial));
    expect(items.map(({ item_key }) => item_key)).toEqual(['12345', '22222', '11111']);
    expect(changed_at).toBe(AT);
  });
  test('refuses an item above the maximum number', () =>
    given(empty, ...Array.from({ length: COLLECTION_ITEMS_MAX }, (_, index) => added(`${20_000 + index}`)))
      .when(addCollectionItem(command))
      .refuses('limit_reached'));
});
