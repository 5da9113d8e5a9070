import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type SecretVault,
  WEBHOOK_SECRET_OWNER,
  forgetUnusedSecrets,
  openSecretVault,
} from '#application/vault/secret-vault.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

let pool: Database;
let vault: SecretVault;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  pool = openPool(database.url, 4);
  drop = async () => {
    await pool.end();
    await database.drop();
  };
  vault = await openSecretVault(pool, randomBytes(32).toString('base64'));
});
afterAll(() => drop());

const logWith = (named: Readonly<Record<string, string>>): EventStore =>
  ({
    last: (stream: string) =>
      Promise.resolve(named[stream] ? { data: { fingerprint: named[stream] } } : null),
  }) as unknown as EventStore;

const seal = async (workspaceId: string, secret: string, age: 'old' | 'fresh'): Promise<string> => {
  const fingerprint = await vault.seal(workspaceId, WEBHOOK_SECRET_OWNER, secret);
  if (age === 'old')
    await pool.query(`update vault.secret set sealed_at = now() - interval '1 hour' where fingerprint = $1`, [
      fingerprint,
    ]);
  return fingerprint;
};
const held = async (workspaceId: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ fingerprint: string }>(
    'select fingerprint from vault.secret where workspace_id = $1 order by sealed_at, fingerprint',
    [workspaceId],
  );
  return rows.map(({ fingerprint }) => fingerprint);
};

test('deletes the signing secrets that the log does not name, but not those that a command may be about to record', async () => {
  const current = await seal('ws_1', 'current', 'old');
  for (const refused of ['refused', 'refused too']) await seal('ws_1', refused, 'old');
  const fresh = await seal('ws_1', 'fresh', 'fresh');
  const before = await seal('ws_2', 'before', 'old');
  const rotated = await seal('ws_2', 'rotated', 'fresh');
  const only = await seal('ws_3', 'only', 'old');
  const chat = await vault.seal('ws_1', 'rule', 'chat');
  await pool.query(`update vault.secret set sealed_at = now() - interval '2 hours' where owner = 'rule'`);
  const log = logWith({ 'webhookSecret-ws_1': current, 'webhookSecret-ws_2': rotated });
  await forgetUnusedSecrets(log, vault);
  expect(await held('ws_1')).toEqual([chat, current, fresh]);
  expect(await held('ws_2')).toEqual([rotated]);
  expect(await held('ws_3')).toEqual([only]);
  expect(before).not.toBe(rotated);
});

test('deletes nothing while the log does not answer', async () => {
  for (const secret of ['one', 'two']) await seal('ws_4', secret, 'old');
  const silent = { last: () => Promise.reject(new Error('silent')) } as unknown as EventStore;
  await expect(forgetUnusedSecrets(silent, vault)).rejects.toThrow('silent');
  expect(await held('ws_4')).toHaveLength(2);
});
