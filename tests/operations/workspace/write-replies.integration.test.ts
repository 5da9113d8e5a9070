import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { on } from '#tests/dsl/api.ts';
import { alertsOf, alertsThrough, HOOK, ruleOn, suspendChannel } from '../fixtures/alerting.ts';
import { recordBrief } from '../fixtures/brief-events.ts';
import { AD, boardsThrough, collectionsOf, notesOf, OTHER_AD, savedOf } from '../fixtures/boards.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../fixtures/stack.ts';

/** A reply comes from the read model when that shows the write, otherwise from the log. */

let stack: ApiStack;
let brand: CorpusBrand;
const tablesOf = ({ sql }: ReadQuery): readonly string[] =>
  [...sql.matchAll(/(?<=from )\w+\.\w+/g)].map(String);

const tablesRead = new Set<string>();
let shownApi: FastifyInstance;
let lateApi: FastifyInstance;
let unreadableApi: FastifyInstance;

beforeAll(async () => {
  stack = await openApiStack();
  const [seeded] = await stack.seed(['alpha']);
  brand = seeded as CorpusBrand;
  const { db } = stack.operations();
  const watched: ReadDatabase = {
    ...db,
    query: (statement) => {
      for (const table of tablesOf(statement)) tablesRead.add(table);
      return db.query(statement);
    },
  };
  const failing: ReadDatabase = {
    ...db,
    query: (statement) =>
      tablesOf(statement).some((table) => TABLES.has(table)) && !statement.sql.includes('count(*)')
        ? Promise.reject(new Error('connection lost'))
        : db.query(statement),
  };
  const late = { ...stack.projectionWait, wait: () => Promise.resolve(false) };
  [shownApi, lateApi, unreadableApi] = await Promise.all([
    stack.api({ db: watched }),
    stack.api({ projectionWait: late }),
    stack.api({ db: failing }),
  ]);
});
afterAll(() => stack[Symbol.asyncDispose]());

type Listed = { readonly id?: string; readonly item_key?: string; readonly key_id?: string };
type Write = (app: FastifyInstance, key: Key) => Promise<Listed>;
type Case = readonly [operation: string, table: string, list: (key: Key) => string, write: Write];

const keysOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/api-keys`;

/** Lists do not show the secret of a reply. */
const withoutSecret = (name: string, { [name]: secret, ...record }: Record<string, unknown>): Listed => {
  expect(secret).toBeDefined();
  return record;
};
const createKey = async (app: FastifyInstance, key: Key): Promise<Record<string, unknown>> => {
  const body = { name: 'Ä "quoted" name', scopes: ['me:read', 'brands:read'] };
  return (await on(app).post(keysOf(key), { key, body })).data;
};
const CHAT = 'https://hooks.slack.com/services/T0/B0/very-secret';
const createRule = async (app: FastifyInstance, key: Key): Promise<Record<string, unknown>> => {
  await alertsThrough(shownApi).track(key, [brand]);
  const channels = { webhook_url: HOOK, chat_webhook_url: CHAT };
  return { ...(await alertsThrough(app).created(key, ruleOn([brand], { name: 'Ä "als"', ...channels }))) };
};

const briefsOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/briefs`;

const CASES: readonly Case[] = [
  [
    'writeNote',
    'notes.note',
    notesOf,
    async (app, key) => {
      const subject = { subject_type: AD.item_type, subject_key: AD.item_key };
      await on(app).post(notesOf(key), { key, body: { ...subject, body: 'First.' } });
      const body = { ...subject, body: 'A "second" line.\nÄnderung — 🙂' };
      return (await on(app).post(notesOf(key), { key, body })).data;
    },
  ],
  [
    'saveItem',
    'saved.item',
    savedOf,
    async (app, key) => (await on(app).post(savedOf(key), { key, body: AD })).data,
  ],
  [
    'createCollection',
    'collections.collection',
    collectionsOf,
    async (app, key) => {
      const outer = await boardsThrough(shownApi).created(key, { name: 'outer' });
      const body = { name: 'Älter "als"', description: 'Two\nlines.', parent_id: outer.id, first_item: AD };
      return boardsThrough(app).created(key, { ...body, visibility: 'private', editors: [key.memberId] });
    },
  ],
  [
    'changeCollection',
    'collections.collection',
    collectionsOf,
    async (app, key) => {
      const { id } = await boardsThrough(shownApi).created(key, { name: 'inbox' });
      for (const item of [AD, OTHER_AD]) await boardsThrough(shownApi).add(key, id, item);
      const { data } = await boardsThrough(app).change(key, id, { name: 'outbox', description: 'Done.' });
      return data;
    },
  ],
  [
    'giveBriefFeedback',
    'briefs.brief',
    briefsOf,
    async (app, key) => {
      const changes = { ads_started: 3, ads_stopped: 2, destinations_changed: 1 };
      const id = await recordBrief(stack, key, [{ brand_id: brand.id, ...changes }]);
      const body = { feedback: 'useful' };
      return (await on(app).patch(`${briefsOf(key)}/${id}`, { key, body })).data;
    },
  ],
  [
    'createApiKey',
    'api_keys.api_key',
    keysOf,
    async (app, key) => withoutSecret('api_key', await createKey(app, key)),
  ],
  [
    'rotateApiKey',
    'api_keys.api_key',
    keysOf,
    async (app, key) => {
      const { key_id } = await createKey(shownApi, key);
      const { data } = await on(app).post(`${keysOf(key)}/${String(key_id)}/rotate`, { key, body: {} });
      return withoutSecret('api_key', data);
    },
  ],
  [
    'createAlert',
    'alerts.alert',
    alertsOf,
    async (app, key) => withoutSecret('webhook_secret', await createRule(app, key)),
  ],
  [
    'changeAlert',
    'alerts.alert',
    alertsOf,
    async (app, key) => {
      const id = String((await createRule(shownApi, key))['id']);
      for (const channel of ['webhook', 'chat'] as const) await suspendChannel(stack, key, id, channel);
      const { data } = await alertsThrough(app).change(key, id, { webhook_url: HOOK, cadence: 'daily' });
      return withoutSecret('webhook_secret', data);
    },
  ],
];

const TABLES: ReadonlySet<string> = new Set(CASES.map(([, table]) => table));

const identity = ({ id, item_key, key_id }: Listed): string | undefined => id ?? item_key ?? key_id;

const listedText = async (url: string, key: Key, written: Listed): Promise<string> => {
  const { data } = await on(shownApi).get(url, { key });
  return JSON.stringify((data as Listed[]).find((item) => identity(item) === identity(written)));
};

describe('the reply to a write', () => {
  test.each(CASES)('of %s is the row of the read model', async (_operation, table, list, write) => {
    const key = await stack.key();
    tablesRead.clear();
    const written = await write(shownApi, key);
    expect([...tablesRead]).toContain(table);
    expect(JSON.stringify(written)).toBe(await listedText(list(key), key, written));
  });

  test.each(CASES)(
    'of %s has the same bytes when the wait times out',
    async (_operation, _table, list, write) => {
      const key = await stack.key();
      const written = await write(lateApi, key);
      await expect
        .poll(() => listedText(list(key), key, written), { timeout: 60_000 })
        .toBe(JSON.stringify(written));
    },
  );

  test.each(CASES)(
    'of %s has the same bytes when the row cannot be read',
    async (_operation, _table, list, write) => {
      const key = await stack.key();
      const written = await write(unreadableApi, key);
      expect(JSON.stringify(written)).toBe(await listedText(list(key), key, written));
    },
  );
});
