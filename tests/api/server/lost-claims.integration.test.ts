import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccessTables } from '#application/access/access-tables.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type Claim, type IdempotencyStore, createIdempotencyStore } from '#services/api/idempotency.ts';
import { type FaultProxy, proxied } from '#tests/faults/fault-proxy.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

/** The answer to a claim is lost, or another request takes it over. */

const WAIT = { timeout: 30_000, interval: 20 } as const;
const THROUGH = 'through the proxy';
const CONNECTION_LOST = /ECONNRESET|Connection terminated/;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

let proxy: FaultProxy;
let direct: Database;
let store: IdempotencyStore;
let otherStore: IdempotencyStore;
let pool: Database;

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const through = await proxied(database.url);
  proxy = resources.use(through.proxy);
  direct = openPool(database.url, 3);
  resources.defer(() => direct.end());
  pool = openPool(through.url, 1, { application_name: THROUGH });
  resources.defer(() => pool.end());
  await createAccessTables(direct);
  store = resources.use(createIdempotencyStore(pool));
  otherStore = resources.use(createIdempotencyStore(direct));
});

const requestOf = (key: string) => ({
  workspaceId: 'ws_1',
  scope: 'key_1',
  keyText: 'the text of a key',
  path: '/v1/collections',
  key,
  fingerprint: 'f',
});

const claimed = async (by: IdempotencyStore, key: string): Promise<Claim> => {
  const claim = await by.claim(requestOf(key));
  if (!('commandId' in claim)) throw new Error('a reply instead of a claim');
  return claim;
};

const rowsOf = async (key: string) =>
  (
    await direct.query<{ runs: boolean }>(
      `select taken_at > now() - interval '20 seconds' as runs from access.idempotency where key = $1`,
      [key],
    )
  ).rows;

const endLease = (key: string): Promise<unknown> =>
  direct.query(`update access.idempotency i set taken_at = now() - interval '1 hour' where key = $1`, [key]);

const loseAnswer = async (key: string): Promise<void> => {
  // Waits for the store's start: the next answer is that to the claim.
  await pool.query('select 1');
  proxy.reset(true);
  await expect(store.claim(requestOf(key))).rejects.toThrow(CONNECTION_LOST);
};

/** Counts statements of connections through the proxy. */
const statements = async (begin: string, state: 'waits' | 'has ended'): Promise<number> => {
  const { rows } = await direct.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = $1 and starts_with(trim(query, e' \\n'), $2)
       and case when $3 then wait_event_type = 'Lock' else state = 'idle' end`,
    [THROUGH, begin, state === 'waits'],
  );
  return rows[0]?.count ?? 0;
};

test('a request whose claim was taken and its answer lost does not count as running', async () => {
  await loseAnswer('new');
  expect(await rowsOf('new'), 'the claim was taken').toHaveLength(1);
  expect(await store.claim(requestOf('new'))).toHaveProperty('commandId');
});

test('a claim that was taken over and its answer lost does not count as running', async () => {
  const { commandId } = await claimed(otherStore, 'taken over');
  await endLease('taken over');
  await loseAnswer('taken over');
  expect(await store.claim(requestOf('taken over'))).toMatchObject({ commandId });
});

test('a claim that still waited at the server when its connection was lost does not count as running', async () => {
  const holder = await direct.connect();
  await holder.query('begin');
  await holder.query(
    `insert into access.idempotency (scope, path, key, fingerprint, command_id, created_at, taken_at)
     values ('key_1', '/v1/collections', 'waiting', 'f', gen_random_uuid(), now(), now())`,
  );
  const lost = store.claim(requestOf('waiting')).then(
    () => 'claimed',
    ({ message }: Error) => message,
  );
  await expect.poll(() => statements('insert into access.idempotency', 'waits'), WAIT).toBe(1);
  proxy.reset();
  expect(await lost).toMatch(CONNECTION_LOST);
  await expect.poll(() => statements('update access.idempotency set taken_at', 'has ended'), WAIT).toBe(1);
  await holder.query('rollback');
  holder.release();
  await expect.poll(() => rowsOf('waiting'), WAIT).toEqual([{ runs: false }]);
  expect(await store.claim(requestOf('waiting'))).toHaveProperty('commandId');
});

test('a claim that another request has taken over meanwhile is not freed', async () => {
  await loseAnswer('late');
  proxy.set('mute');
  await endLease('late');
  await claimed(otherStore, 'late');
  proxy.set('pass');
  await expect.poll(() => statements('update access.idempotency set taken_at', 'has ended'), WAIT).toBe(1);
  expect(await rowsOf('late')).toEqual([{ runs: true }]);
});

test.each(['refused', 'failed'] as const)(
  'a %s request leaves the claim of the one that took it over',
  async (outcome) => {
    const first = await claimed(otherStore, outcome);
    await endLease(outcome);
    const second = await claimed(otherStore, outcome);
    expect(second.commandId).toBe(first.commandId);
    await first.release(outcome);
    expect(await rowsOf(outcome)).toEqual([{ runs: true }]);
    await second.release(outcome);
    expect(await rowsOf(outcome)).toEqual(outcome === 'refused' ? [] : [{ runs: false }]);
  },
);
