import { describe, test } from 'vitest';
import {
  type CollectionItemEvent,
  collectionItemsStream,
  type CollectionTreeEvent,
  collectionTreeStream,
  type Visibility,
} from '#contracts/events/workspace/collection.ts';
import { type NoteEvent, noteStream } from '#contracts/events/workspace/note.ts';
import { type SavedEvent, savedStream } from '#contracts/events/workspace/saved-items.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { collections } from '#projections/collections/project.ts';
import { listCollections } from '#projections/collections/read.ts';
import { notes } from '#projections/notes/project.ts';
import { saved } from '#projections/saved/project.ts';
import { listSavedItems } from '#projections/saved/read.ts';
import { given, type GivenEvent } from '../dsl/projections.ts';

const workspace_id = 'ws_1';
const page = { limit: 100, after: null };
const id = (n: number): string => `0000000${n}-0000-4000-8000-000000000000`;
const at = (minute: number): string => `2026-11-20T09:${String(minute).padStart(2, '0')}:00.000Z`;
const AD = { item_type: 'ad', item_key: '12345' } as const;
const OTHER = { item_type: 'ad', item_key: '67890' } as const;

const inTree = (event: CollectionTreeEvent): GivenEvent => ({
  stream: collectionTreeStream(workspace_id),
  event,
});
const inItems = (n: number, event: CollectionItemEvent): GivenEvent => ({
  stream: collectionItemsStream(workspace_id, id(n)),
  event,
});
const created = (
  n: number,
  minute: number,
  more: { parent?: number; visibility?: Visibility; by?: string; editors?: string[]; first?: typeof AD } = {},
): GivenEvent =>
  inTree({
    type: 'CollectionCreated',
    data: {
      workspace_id,
      collection_id: id(n),
      name: `board ${n}`,
      description: null,
      parent_id: more.parent === undefined ? null : id(more.parent),
      visibility: more.visibility ?? 'workspace',
      editors: more.editors ?? [],
      first_item: more.first ?? null,
      created_by: more.by ?? 'ada',
      created_at: at(minute),
    },
  });
const changed = (n: number, minute: number) => ({
  workspace_id,
  collection_id: id(n),
  changed_by: 'ada',
  changed_at: at(minute),
});
const added = (n: number, minute: number, item: typeof AD | typeof OTHER): GivenEvent =>
  inItems(n, {
    type: 'CollectionItemAdded',
    data: { workspace_id, collection_id: id(n), ...item, added_by: 'bea', added_at: at(minute) },
  });
const removed = (n: number, minute: number, item: typeof AD | typeof OTHER): GivenEvent =>
  inItems(n, {
    type: 'CollectionItemRemoved',
    data: { workspace_id, collection_id: id(n), ...item, removed_by: 'bea', removed_at: at(minute) },
  });
const deleted = (n: number, minute: number, inside: readonly number[] = []): GivenEvent =>
  inTree({
    type: 'CollectionDeleted',
    data: {
      workspace_id,
      collection_id: id(n),
      inside: inside.map(id),
      deleted_by: 'ada',
      deleted_at: at(minute),
    },
  });

type Shown = {
  readonly name: string;
  readonly parent_id: string | null;
  readonly updated_at: string;
  readonly item_count: number;
  readonly items: readonly { readonly item_key: string }[];
};
const seenBy = (memberId: string) => async (db: ReadDatabase) => {
  const { items } = await listCollections(db, workspace_id, memberId, page);
  return items.map((text) => {
    const { name, parent_id, updated_at, item_count, items: placed } = JSON.parse(text) as Shown;
    return [name, parent_id, updated_at, item_count, placed.map(({ item_key }) => item_key).join()];
  });
};

describe('collections', () => {
  test('dates a collection by its item changes, and removes the first item by an event of the other stream', () =>
    given([
      created(1, 0, { first: AD }),
      created(2, 1),
      created(3, 2, { first: AD }),
      added(2, 3, AD),
      removed(1, 4, AD),
      added(3, 5, OTHER),
      removed(3, 6, AD),
      added(1, 7, AD),
      removed(2, 8, AD),
      added(2, 9, AD),
    ])
      .into(collections)
      .shows(seenBy('ada'), [
        ['board 2', null, at(9), 1, '12345'],
        ['board 1', null, at(7), 1, '12345'],
        ['board 3', null, at(6), 1, '67890'],
      ]));

  test('removes the items of a deleted collection, even one added at the same time', () =>
    given([
      created(1, 0),
      created(2, 1, { parent: 1, first: AD }),
      created(3, 2),
      added(2, 3, OTHER),
      added(3, 4, AD),
      deleted(1, 5, [2]),
      added(2, 6, AD),
      removed(2, 7, OTHER),
    ])
      .into(collections)
      .shows(
        async (db) => [
          await seenBy('ada')(db),
          await db.slow({ sql: 'select collection_id, item_key from collections.item', values: [] }),
        ],
        [[['board 3', null, at(4), 1, '12345']], [{ collection_id: id(3), item_key: '12345' }]],
      ));

  test('updates visibility when a collection is moved or made visible', () => {
    const events = [
      created(1, 0, { visibility: 'private', editors: ['bea'] }),
      created(2, 1, { parent: 1, by: 'cy' }),
      created(3, 2, { by: 'dee' }),
      inTree({ type: 'CollectionMoved', data: { ...changed(3, 3), parent_id: id(2) } }),
      created(4, 4, { by: 'eve', visibility: 'private' }),
    ];
    const first = ['board 1', null, at(0), 0, ''];
    const second = ['board 2', id(1), at(1), 0, ''];
    const third = ['board 3', id(2), at(3), 0, ''];
    return given(events)
      .into(collections)
      .shows(
        async (db) => Promise.all(['ada', 'bea', 'cy', 'dee', 'eve', 'fay'].map((one) => seenBy(one)(db))),
        [
          [third, second, first],
          [third, second, first],
          [third, ['board 2', null, at(1), 0, '']],
          [['board 3', null, at(3), 0, '']],
          [['board 4', null, at(4), 0, '']],
          [],
        ],
      );
  });

  test('makes nested collections visible with their parent', () =>
    given([
      created(1, 0, { visibility: 'private' }),
      created(2, 1, { parent: 1 }),
      inTree({ type: 'CollectionVisibilityChanged', data: { ...changed(1, 2), visibility: 'workspace' } }),
      inTree({ type: 'CollectionRenamed', data: { ...changed(2, 3), name: 'opened' } }),
    ])
      .into(collections)
      .shows(seenBy('fay'), [
        ['opened', id(1), at(3), 0, ''],
        ['board 1', null, at(2), 0, ''],
      ]));
});

const savedEvent = (minute: number, item: typeof AD | typeof OTHER): GivenEvent => ({
  stream: savedStream(workspace_id, item),
  event: {
    type: 'ItemSaved',
    data: { workspace_id, ...item, saved_by: 'ada', saved_at: at(minute) },
  } satisfies SavedEvent,
});

test('lists a saved item that was unsaved and saved again', () =>
  given([
    savedEvent(0, AD),
    savedEvent(1, OTHER),
    {
      stream: savedStream(workspace_id, AD),
      event: {
        type: 'ItemUnsaved',
        data: { workspace_id, ...AD, unsaved_by: 'ada', unsaved_at: at(2) },
      } satisfies SavedEvent,
    },
    savedEvent(3, AD),
  ])
    .into(saved)
    .shows(
      async (db) => (await listSavedItems(db, workspace_id, 'ad', page)).items,
      [
        JSON.stringify({ ...AD, created_by: 'ada', created_at: at(3) }),
        JSON.stringify({ ...OTHER, created_by: 'ada', created_at: at(1) }),
      ],
    ));

test('lists notes that were replaced, deleted and written again', () => {
  const named = (n: number) => ({ workspace_id, note_id: id(n) });
  const about = { subject_type: 'ad', subject_key: '12345' } as const;
  const event = (n: number, one: NoteEvent): GivenEvent => ({
    stream: noteStream(workspace_id, id(n)),
    event: one,
  });
  const written = (n: number, minute: number, body: string): GivenEvent =>
    event(n, {
      type: 'NoteWritten',
      data: { ...named(n), ...about, body, written_by: 'ada', written_at: at(minute) },
    });
  return given([
    written(1, 0, 'one'),
    written(2, 1, 'two'),
    event(1, { type: 'NoteReplaced', data: { ...named(1), body: 'edited', replaced_at: at(2) } }),
    event(2, { type: 'NoteDeleted', data: { ...named(2), deleted_by: 'ada', deleted_at: at(3) } }),
    written(2, 4, 'anew'),
  ])
    .into(notes)
    .shows(
      (db) =>
        db.slow({
          sql: 'select note_id, body, created_at, updated_at from notes.note order by updated_at',
          values: [],
        }),
      [
        { note_id: id(1), body: 'edited', created_at: at(0), updated_at: at(2) },
        { note_id: id(2), body: 'anew', created_at: at(4), updated_at: at(4) },
      ],
    );
});
