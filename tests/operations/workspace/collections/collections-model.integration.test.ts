import type { FastifyInstance } from 'fastify';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Subject } from '#contracts/values/items.ts';
import { noteIdOf } from '#domain/workspace/note.ts';
import { on, type Reply } from '#tests/dsl/api.ts';
import {
  type Board,
  boardsThrough,
  collectionsOf,
  colleague,
  everyPage,
  notesOf,
  savedOf,
} from '#tests/operations/fixtures/boards.ts';
import {
  type BoardsModel,
  createBoardsModel,
  type ModelMember,
  type Outcome,
} from '#tests/operations/fixtures/boards-model.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { runs } from '#tests/property-seed.ts';

/** Each request is sent twice, and the second one must remove nothing and append nothing. */
const RUNS = 5;
const REQUESTS_MIN = 10;
const REQUESTS_MAX = 40;
const TIMEOUT_MS = 300_000;
const TICK_MS = 1_000;

let stack: ApiStack;
let app: FastifyInstance;
let now = Date.parse('2026-11-20T09:00:00.000Z');

beforeAll(async () => {
  stack = await openApiStack();
  // Each reading is one second later, so that "newest" is unambiguous and no rate limit is reached.
  app = await stack.api({ clock: { now: () => new Date((now += TICK_MS)) } });
});
afterAll(() => stack[Symbol.asyncDispose]());

type Person = { readonly key: Key; readonly member: ModelMember };
type World = {
  readonly people: readonly Person[];
  readonly model: BoardsModel;
  /** Ids of all collections, including deleted ones. */
  readonly ids: string[];
};

const openWorld = async (): Promise<World> => {
  const owner = await stack.key();
  const keys = [owner, await colleague(stack, owner, 'admin'), await colleague(stack, owner, 'editor')];
  const people = keys.map((key, place) => ({ key, member: { id: key.memberId, mayAll: place < 2 } }));
  return { people, model: createBoardsModel(), ids: [] };
};

const personAt = ({ people }: World, place: number): Person => people[place] as Person;
const idAt = ({ ids }: World, place: number): string => ids[place % (ids.length + 1)] ?? randomUUID();
const editorsAt = (world: World, places: readonly number[]): readonly string[] =>
  places.map((place) => personAt(world, place).key.memberId);
const subjectAt = (world: World, subject: { subject_type: string; subject_key: string | number }): Subject =>
  ({
    ...subject,
    subject_key:
      typeof subject.subject_key === 'number' ? idAt(world, subject.subject_key) : subject.subject_key,
  }) as Subject;

const hold = ({ status, data, error }: Reply, { removed, ...outcome }: Outcome): void => {
  expect({ status, error: status < 400 ? undefined : error.message }).toMatchObject(outcome);
  if (removed !== undefined) expect((data as { removed: boolean }).removed).toBe(removed);
};

const twice = async (send: () => Promise<Reply>, expected: Outcome): Promise<void> => {
  const first = await send();
  hold(first, expected);
  const second = await send();
  hold(second, expected.removed ? { ...expected, removed: false } : expected);
  expect(second.headers['x-read-position'], 'recorded again').toBe(first.headers['x-read-position']);
  if (expected.status === 201) expect(second.data).toEqual(first.data);
};

const member = fc.nat({ max: 2 });
/** Index of a collection, including deleted ones. The index after the last one is an unknown collection. */
const place = fc.nat({ max: 20 });
const parent = fc.option(place, { freq: 2 });
const visibility = fc.constantFrom('workspace', 'private');
const editors = fc.uniqueArray(member, { maxLength: 2 });
const name = fc.constantFrom('Boots', 'Bags', 'Belts');
const description = fc.option(fc.constantFrom('For the coast.', 'For the hills.'));
const UUID = 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11';
const item = fc.constantFrom(
  { item_type: 'ad', item_key: '12345' },
  { item_type: 'brand', item_key: UUID },
  { item_type: 'page', item_key: UUID },
);
const subject = fc.oneof(
  item.map(({ item_type, item_key }) => ({ subject_type: item_type, subject_key: item_key })),
  place.map((subject_key) => ({ subject_type: 'collection', subject_key })),
);
const body = fc.constantFrom('Good.', 'Better.');

/** The inputs make a failing sequence readable. */
type Request = { readonly of: unknown; readonly run: (world: World) => Promise<void> };
const request = <T extends Record<string, unknown>>(
  kind: string,
  parts: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
  run: (world: World, given: T & { readonly by: Person }) => Promise<void>,
): fc.Arbitrary<Request> =>
  fc.tuple(member, fc.record(parts)).map(([who, made]) => ({
    of: { kind, who, ...made },
    run: (world) => run(world, { ...(made as T), by: personAt(world, who) }),
  }));

const described = { name, description, visibility, editors, parent };

const create = request('create', { ...described, first: fc.option(item) }, async (world, given) => {
  const { by, parent: at, editors: rights, first } = given;
  const asked = {
    name: given.name,
    description: given.description,
    visibility: given.visibility,
    parent_id: at === null ? null : idAt(world, at),
    editors: editorsAt(world, rights),
    ...(first ? { first_item: first } : {}),
  };
  const headers = { 'idempotency-key': randomUUID() };
  const send = () => on(app).post(collectionsOf(by.key), { key: by.key, headers, body: asked });
  const reply = await send();
  const id = (reply.data as Board | undefined)?.id ?? randomUUID();
  hold(reply, world.model.create(by.member, id, asked));
  if (reply.status !== 201) return;
  world.ids.push(id);
  expect((await send()).data).toEqual(reply.data);
});

const change = request(
  'change',
  { place, changed: fc.record(described, { requiredKeys: [] }) },
  async (world, given) => {
    const { parent: at, editors: rights, ...rest } = given.changed as Partial<typeof given.changed>;
    const asked = {
      ...rest,
      ...(at === undefined ? {} : { parent_id: at === null ? null : idAt(world, at) }),
      ...(rights === undefined ? {} : { editors: editorsAt(world, rights) }),
    };
    if (Object.keys(asked).length === 0) return;
    const id = idAt(world, given.place);
    const expected = world.model.change(given.by.member, id, asked);
    await twice(() => boardsThrough(app).change(given.by.key, id, asked), expected);
  },
);

const remove = request('delete', { place }, async (world, given) => {
  const id = idAt(world, given.place);
  const expected = world.model.delete(given.by.member, id);
  await twice(() => boardsThrough(app).delete(given.by.key, id), expected);
});

const addItem = request('add', { place, item }, async (world, given) => {
  const id = idAt(world, given.place);
  const expected = world.model.add(given.by.member, id, given.item);
  await twice(() => boardsThrough(app).add(given.by.key, id, given.item), expected);
});

const removeItem = request('remove', { place, item }, async (world, given) => {
  const id = idAt(world, given.place);
  const { item_type, item_key } = given.item;
  const expected = world.model.remove(given.by.member, id, given.item);
  await twice(() => boardsThrough(app).remove(given.by.key, id, item_type, item_key), expected);
});

const save = request('save', { item }, async ({ model }, { by: { key, member: by }, item: one }) =>
  twice(() => on(app).post(savedOf(key), { key, body: one }), model.save(by, one)),
);

const unsave = request('unsave', { item }, async ({ model }, { by: { key }, item: one }) => {
  const url = `${savedOf(key)}/${one.item_type}/${one.item_key}`;
  await twice(() => on(app).delete(url, { key, body: {} }), model.unsave(one));
});

const write = request('write', { subject, body }, async (world, given) => {
  const about = subjectAt(world, given.subject);
  const { key, member: by } = given.by;
  const expected = world.model.write(by, about, given.body);
  await twice(() => on(app).post(notesOf(key), { key, body: { ...about, body: given.body } }), expected);
});

const erase = request('erase', { author: member, subject }, async (world, given) => {
  const about = subjectAt(world, given.subject);
  const { key, member: by } = given.by;
  const author = personAt(world, given.author).member.id;
  const url = `${notesOf(key)}/${noteIdOf(key.workspaceId, author, about)}`;
  const expected = world.model.erase(by, author, about);
  await twice(() => on(app).delete(url, { key, body: {} }), expected);
});

const requests = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: create },
    { weight: 4, arbitrary: change },
    { weight: 1, arbitrary: remove },
    { weight: 3, arbitrary: addItem },
    { weight: 2, arbitrary: removeItem },
    { weight: 2, arbitrary: save },
    { weight: 1, arbitrary: unsave },
    { weight: 3, arbitrary: write },
    { weight: 2, arbitrary: erase },
  ),
  { minLength: REQUESTS_MIN, maxLength: REQUESTS_MAX, size: 'max' },
);

type Timed = { readonly created_at: string; readonly updated_at?: string; readonly id?: string };
const untimed = (timed: Timed) => {
  const { created_at: _, updated_at: __, ...rest } = timed;
  return rest;
};
const unnamed = (named: { readonly id?: string }) => {
  const { id: _, ...rest } = named;
  return rest;
};

const holdLists = async ({ people, model }: World): Promise<void> => {
  for (const { key, member: by } of people) {
    const boards = await everyPage<Board>(app, key, collectionsOf(key), 2);
    const shown = boards.map((board) => ({
      ...untimed(board),
      items: board.items.map((one) => untimed(one as unknown as Timed)),
    }));
    expect(shown).toEqual(model.collectionsOf(by));
    expect((await everyPage<Timed>(app, key, savedOf(key), 2)).map(untimed)).toEqual(model.saved());
    const notes = await everyPage<Timed>(app, key, notesOf(key), 2);
    expect(notes.map(untimed).map(unnamed)).toEqual(model.notesOf(by));
  }
};

test(
  'random requests of several members return the replies and lists of the model',
  () =>
    fc.assert(
      fc.asyncProperty(requests, async (sequence) => {
        const world = await openWorld();
        for (const { of, run } of sequence) {
          try {
            await run(world);
            await holdLists(world);
          } catch (error) {
            throw new Error(`after ${JSON.stringify(of)}`, { cause: error });
          }
        }
      }),
      { numRuns: runs(RUNS), endOnFailure: true },
    ),
  TIMEOUT_MS,
);
