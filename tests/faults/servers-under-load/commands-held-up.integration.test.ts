import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { type Caller, createCaller, startLoadedApi } from './loaded-api.ts';
import { type Send, sendSteadily } from './steady-load.ts';

/** A revocation must not wait for writes that wait for a lock. */

const PATIENCE_MS = 60_000;
const WRITES_PER_SECOND = 20;
const COMMAND_CLIENTS = 10;

let stack: ApiStack;
let caller: Caller;
let base: string;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  caller = await createCaller(stack);
  const api = await startLoadedApi(stack, caller, {});
  resources.defer(async () => void (await api.process.stop()));
  base = api.base;
});
afterAll(() => resources.disposeAsync());

const waitingForLock = async (): Promise<number> => {
  const { rows } = await stack.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_locks
     where not granted and relation = 'access.idempotency'::regclass`,
  );
  return rows[0]?.count ?? 0;
};

test('a key is revoked and refused while all connections for commands wait for a lock', {
  timeout: 4 * PATIENCE_MS,
}, async () => {
  const { key } = caller;
  const headers = { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' };
  const ofWorkspace = `${base}/workspaces/${key.workspaceId}`;
  const created = await fetch(`${ofWorkspace}/api-keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'lost', scopes: ['me:read'] }),
  });
  const { data: lost } = (await created.json()) as { data: { key_id: string; api_key: string } };
  const statusOfLost = async (): Promise<number> =>
    (await fetch(`${base}/me`, { headers: { authorization: `Bearer ${lost.api_key}` } })).status;
  expect(await statusOfLost()).toBe(200);

  const pool = openPool(stack.environment['DATABASE_URL'] ?? '', 1);
  const locking = await pool.connect();
  const ending = new AbortController();
  let refusedCount = 0;
  const write: Send = async (signal) => {
    const reply = await fetch(`${ofWorkspace}/notes`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: JSON.stringify({ subject_type: 'ad', subject_key: '100000000000001', body: 'kept' }),
      signal,
    });
    if (reply.status === 503) refusedCount += 1;
    return reply;
  };
  await locking.query('begin; lock table access.idempotency in access exclusive mode');
  const writing = sendSteadily(
    { sends: [write], perSecond: WRITES_PER_SECOND, answerMs: PATIENCE_MS },
    ending.signal,
  );
  try {
    // From now on a connection that becomes free goes to a write that has waited for it.
    await expect.poll(() => refusedCount, { timeout: PATIENCE_MS }).toBeGreaterThan(WRITES_PER_SECOND);
    await expect.poll(waitingForLock, { timeout: PATIENCE_MS }).toBe(COMMAND_CLIENTS);
    const revoked = await fetch(`${ofWorkspace}/api-keys/${lost.key_id}`, {
      method: 'DELETE',
      headers,
      body: '{}',
    });
    expect(revoked.status).toBe(200);
    expect(((await revoked.json()) as { data: { removed: boolean } }).data.removed).toBe(true);
    expect(await statusOfLost()).toBe(401);
  } finally {
    ending.abort();
    await locking.query('rollback');
    locking.release();
    for (const { status } of await writing) expect([201, 503]).toContain(status);
    await pool.end();
  }
});
