import { Refusal } from '#contracts/errors.ts';
import type { CollectionTreeEvent, Visibility } from '#contracts/events/workspace/collection.ts';
import type { Item } from '#contracts/values/items.ts';
import type { Role } from '#contracts/values/access.ts';
import { COLLECTION_DEPTH_MAX, COLLECTIONS_MAX } from '#contracts/resources/workspace/collection.ts';
import type { Decider, SnapshotCodec } from '#domain/decider.ts';
import {
  PersistentMap,
  type PersistentMapJson,
  RecentMap,
  type RecentMapJson,
} from '#domain/persistent-map.ts';

/** Aggregate collection tree, stream `collection-<workspaceId>`: nesting and visibility of collections. */

export type Collection = {
  readonly name: string;
  readonly description: string | null;
  readonly parent_id: string | null;
  readonly visibility: Visibility;
  readonly editors: readonly string[];
  readonly first_item: Item | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
};
type Collections = PersistentMap<Collection>;

/** Members who see a collection; `null` for all. */
export type Audience = readonly string[] | null;

export const DELETED_COLLECTIONS_KEPT = 500;

export type CollectionTree = {
  readonly collections: Collections;
  /** Audience of recently deleted collections; for others they never existed. */
  readonly deleted: RecentMap<Audience>;
};

export type Asking = { readonly member_id: string; readonly role: Role };

const initial: CollectionTree = {
  collections: PersistentMap.empty(),
  deleted: RecentMap.empty(DELETED_COLLECTIONS_KEPT),
};

/**
 * Creator and editors always see a collection; others see `workspace` collections whose parent they see. A private
 * collection hides its content, except from the creators and editors of that content.
 */
const audienceIn = (collections: Collections, id: string): Audience => {
  const collection = collections.get(id);
  if (!collection) return null;
  const own = [collection.created_by, ...collection.editors];
  if (collection.visibility === 'private') return own;
  const above = collection.parent_id === null ? null : audienceIn(collections, collection.parent_id);
  return above === null ? null : [...new Set([...above, ...own])];
};

const isAmong = (audience: Audience, memberId: string): boolean =>
  audience === null || audience.includes(memberId);

const latest = (one: string, other: string): string => (one > other ? one : other);

const remove = (state: CollectionTree, ids: readonly string[]): CollectionTree => {
  let { collections, deleted } = state;
  for (const id of ids) {
    deleted = deleted.with(id, audienceIn(state.collections, id));
    collections = collections.without(id);
  }
  return { collections, deleted };
};

const change = (
  state: CollectionTree,
  { collection_id, changed_at }: { readonly collection_id: string; readonly changed_at: string },
  changed: Partial<Collection>,
): CollectionTree => {
  const before = state.collections.get(collection_id);
  if (!before) return state;
  const after = { ...before, ...changed, updated_at: latest(before.updated_at, changed_at) };
  return { ...state, collections: state.collections.with(collection_id, after) };
};

const evolve = (state: CollectionTree, event: CollectionTreeEvent): CollectionTree => {
  switch (event.type) {
    case 'CollectionCreated': {
      const { workspace_id: _, collection_id, ...created } = event.data;
      const collection = { ...created, updated_at: created.created_at };
      return { ...state, collections: state.collections.with(collection_id, collection) };
    }
    case 'CollectionRenamed':
      return change(state, event.data, { name: event.data.name });
    case 'CollectionDescribed':
      return change(state, event.data, { description: event.data.description });
    case 'CollectionMoved':
      return change(state, event.data, { parent_id: event.data.parent_id });
    case 'CollectionVisibilityChanged':
      return change(state, event.data, { visibility: event.data.visibility });
    case 'CollectionEditorsChanged':
      return change(state, event.data, { editors: event.data.editors });
    case 'CollectionDeleted':
      // The named one comes last and is evicted last, because a repetition names it again.
      return remove(state, [...event.data.inside, event.data.collection_id]);
  }
};

type CollectionTreeJson = { readonly collections: PersistentMapJson; readonly deleted: RecentMapJson };

const snapshot: SnapshotCodec<CollectionTree> = {
  version: 2,
  encode: ({ collections, deleted }): CollectionTreeJson => ({
    collections: collections.toJson(),
    deleted: deleted.toJson(),
  }),
  decode: (json) => {
    const { collections, deleted } = json as CollectionTreeJson;
    return {
      collections: PersistentMap.fromJson(collections),
      deleted: RecentMap.fromJson(DELETED_COLLECTIONS_KEPT, deleted),
    };
  },
};

export const collectionTree: Decider<CollectionTree, CollectionTreeEvent> = { initial, evolve, snapshot };

export const seesCollection = (tree: CollectionTree, id: string, memberId: string): boolean =>
  tree.collections.has(id) && isAmong(audienceIn(tree.collections, id), memberId);

/** Throws `not_found` when it does not exist or the member does not see it. */
export const requireCollection = (tree: CollectionTree, id: string, memberId: string): Collection => {
  const collection = tree.collections.get(id);
  if (collection && isAmong(audienceIn(tree.collections, id), memberId)) return collection;
  throw new Refusal('not_found', 'Collection not found.');
};

const depthOf = (collections: Collections, id: string | null): number =>
  id === null ? 0 : 1 + depthOf(collections, collections.get(id)?.parent_id ?? null);

const levelsInside = (collections: Collections, id: string): readonly (readonly string[])[] => {
  const inside = new Map<string, string[]>();
  for (const [child, { parent_id }] of collections) {
    if (parent_id === null) continue;
    const children = inside.get(parent_id);
    if (children) children.push(child);
    else inside.set(parent_id, [child]);
  }
  const levels: string[][] = [];
  let level = inside.get(id) ?? [];
  while (level.length > 0) {
    levels.push(level.toSorted());
    level = level.flatMap((child) => inside.get(child) ?? []);
  }
  return levels;
};

const requireDepth = (depth: number): void => {
  if (depth <= COLLECTION_DEPTH_MAX) return;
  throw new Refusal(
    'limit_reached',
    `Collections can be nested at most ${COLLECTION_DEPTH_MAX} levels deep.`,
  );
};

/** Omits duplicates and the creator, who needs no entry. */
const editorsOf = (editors: readonly string[], createdBy: string): readonly string[] =>
  [...new Set(editors)].filter((editor) => editor !== createdBy).toSorted();

type Target = { readonly workspace_id: string; readonly collection_id: string };
type Command = Target & { readonly by: Asking; readonly at: string };

export const createCollection =
  (
    input: Command & {
      readonly name: string;
      readonly description: string | null;
      readonly parent_id: string | null;
      readonly visibility: Visibility;
      readonly editors: readonly string[];
      readonly first_item: Item | null;
    },
  ) =>
  (state: CollectionTree): readonly CollectionTreeEvent[] => {
    const { workspace_id, collection_id, name, description, parent_id, visibility, first_item, by, at } =
      input;
    if (state.collections.has(collection_id) || state.deleted.has(collection_id)) return [];
    if (parent_id !== null) requireCollection(state, parent_id, by.member_id);
    requireDepth(depthOf(state.collections, parent_id) + 1);
    if (state.collections.size >= COLLECTIONS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A workspace can have at most ${COLLECTIONS_MAX} collections. Delete some.`,
      );
    }
    const editors = editorsOf(input.editors, by.member_id);
    const described = { name, description, parent_id, visibility, editors, first_item };
    const created = { workspace_id, collection_id, ...described, created_by: by.member_id, created_at: at };
    return [{ type: 'CollectionCreated', data: created }];
  };

export type CollectionChange = {
  readonly name?: string;
  readonly description?: string | null;
  readonly parent_id?: string | null;
  readonly visibility?: Visibility;
  readonly editors?: readonly string[];
};

/** Throws when the parent is invisible, inside the collection, or too deep. */
const requireMovable = (state: CollectionTree, id: string, parentId: string | null, by: Asking): void => {
  if (parentId === null) return;
  requireCollection(state, parentId, by.member_id);
  const levels = levelsInside(state.collections, id);
  if (parentId === id || levels.some((level) => level.includes(parentId))) {
    throw new Refusal(
      'inside_itself',
      'A collection cannot be moved into itself or into a collection inside it.',
    );
  }
  requireDepth(depthOf(state.collections, parentId) + 1 + levels.length);
};

/** Throws `not_yours` except for the creator, admins and owners. */
const requireRights = (collection: Collection, by: Asking): void => {
  if (collection.created_by === by.member_id || by.role === 'admin' || by.role === 'owner') return;
  throw new Refusal(
    'not_yours',
    'Only the creator of the collection, or an admin or owner who sees it, can change `visibility` and `editors`.',
  );
};

/** Throws `shuts_out` when the member could neither see nor undo their own change. */
const requireStaysVisible = (
  state: CollectionTree,
  id: string,
  events: readonly CollectionTreeEvent[],
  by: Asking,
) => {
  if (seesCollection(events.reduce(evolve, state), id, by.member_id)) return;
  throw new Refusal('shuts_out', 'You would no longer see this collection. Add yourself to `editors`.');
};

export const changeCollection =
  (input: Command & { readonly change: CollectionChange }) =>
  (state: CollectionTree): readonly CollectionTreeEvent[] => {
    const { workspace_id, collection_id, by, at } = input;
    const before = requireCollection(state, collection_id, by.member_id);
    const { name, description, parent_id, visibility } = input.change;
    const editors = input.change.editors && editorsOf(input.change.editors, before.created_by);
    const about = { workspace_id, collection_id, changed_by: by.member_id, changed_at: at };
    const events: CollectionTreeEvent[] = [];
    if (name !== undefined && name !== before.name) {
      events.push({ type: 'CollectionRenamed', data: { ...about, name } });
    }
    if (description !== undefined && description !== before.description) {
      events.push({ type: 'CollectionDescribed', data: { ...about, description } });
    }
    if (parent_id !== undefined && parent_id !== before.parent_id) {
      requireMovable(state, collection_id, parent_id, by);
      events.push({ type: 'CollectionMoved', data: { ...about, parent_id } });
    }
    if (visibility !== undefined && visibility !== before.visibility) {
      requireRights(before, by);
      events.push({ type: 'CollectionVisibilityChanged', data: { ...about, visibility } });
    }
    if (editors && editors.join() !== before.editors.join()) {
      requireRights(before, by);
      events.push({ type: 'CollectionEditorsChanged', data: { ...about, editors } });
    }
    requireStaysVisible(state, collection_id, events, by);
    return events;
  };

/**
 * Includes content that the member does not see, as the specification requires. Throws `not_found` for a collection
 * that the member never saw, or that the state no longer holds.
 */
export const deleteCollection =
  ({ workspace_id, collection_id, by, at }: Command) =>
  (state: CollectionTree): readonly CollectionTreeEvent[] => {
    const audience = state.deleted.get(collection_id);
    if (audience !== undefined && isAmong(audience, by.member_id)) return [];
    requireCollection(state, collection_id, by.member_id);
    const inside = levelsInside(state.collections, collection_id).flat();
    const deleted = { workspace_id, collection_id, inside, deleted_by: by.member_id, deleted_at: at };
    return [{ type: 'CollectionDeleted', data: deleted }];
  };
