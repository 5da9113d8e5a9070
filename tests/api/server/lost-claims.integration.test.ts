import { afterAll, expect, test } from 'vitest';
import { createAccessTables } from '#application/access/access-tables.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { createIdempotencyStore } from '#services/api/idempotency/idempotency-store.ts';
import { proxied } from '#tests/faults/fault-proxy.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

const request = {
  workspaceId: 'ws_1',
  scope: 'key_1',
  keyText: 'the text of a key',
  path: '/v1/collections',
  key: 'once',
  fingerprint: 'f',
};

test('a request whose claim was taken and its answer lost does not count as running', async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const through = await proxied(database.url);
  const proxy = resources.use(through.proxy);
  const [direct, pool] = [openPool(database.url, 1), openPool(through.url, 1)];
  resources.defer(() => direct.end());
  resources.defer(() => pool.end());
  await createAccessTables(pool);
  using store = createIdempotencyStore(pool);
  // Ends after what the store does at its start: the next answer is that to the claim.
  await pool.query('select 1');
  proxy.reset(true);
  await expect(store.claim(request)).rejects.toThrow(/ECONNRESET|Connection terminated/);
  const { rows } = await direct.query('select from access.idempotency');
  expect(rows, 'the claim was taken').toHaveLength(1);
  expect(await store.claim(request)).toHaveProperty('commandId');
});
