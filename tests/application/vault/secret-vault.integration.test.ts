import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { fingerprintOf, openSecretVault, type SecretVault } from '#application/vault/secret-vault.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const KEY = randomBytes(32).toString('base64');
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
  vault = await openSecretVault(pool, KEY);
});
afterAll(() => drop());

const ageSecrets = async (): Promise<void> => {
  await pool.query(`update vault.secret set sealed_at = sealed_at - interval '1 hour'`);
};

test('returns a secret by its fingerprint, only for its workspace and owner', async () => {
  const fingerprint = await vault.seal('ws_1', 'rule 1', 'a secret');
  expect(fingerprint).toBe(fingerprintOf('a secret'));
  expect(await vault.open('ws_1', 'rule 1', fingerprint)).toBe('a secret');
  expect(await vault.open('ws_1', 'rule 2', fingerprint)).toBeNull();
  expect(await vault.open('ws_2', 'rule 1', fingerprint)).toBeNull();
  expect(await vault.seal('ws_1', 'rule 1', 'a secret')).toBe(fingerprint);
  expect(await vault.open('ws_1', 'rule 1', fingerprint)).toBe('a secret');
});

test('rejects a row that was moved, modified, or is read with another key', async () => {
  const fingerprint = await vault.seal('ws_3', 'rule 1', 'a secret');
  await pool.query(`insert into vault.secret select 'ws_4', owner, fingerprint, sealed, sealed_at
    from vault.secret where workspace_id = 'ws_3'`);
  await expect(vault.open('ws_4', 'rule 1', fingerprint)).rejects.toThrow('unable to authenticate');
  const other = await openSecretVault(pool, randomBytes(32).toString('base64'));
  await expect(other.open('ws_3', 'rule 1', fingerprint)).rejects.toThrow('unable to authenticate');
  await expect(other.seal('ws_3', 'rule 2', 'a secret')).rejects.toThrow(
    'MEMBER_VAULT_KEY differs from the key',
  );
  const changing = await openSecretVault(pool, randomBytes(32).toString('base64'), KEY);
  expect(await changing.seal('ws_6', 'rule', 'a secret')).toBe(fingerprint);
  await pool.query(`update vault.secret set sealed = set_byte(sealed, 14, 255 - get_byte(sealed, 14))
    where workspace_id = 'ws_3'`);
  await expect(vault.open('ws_3', 'rule 1', fingerprint)).rejects.toThrow('unable to authenticate');
});

test("deletes all of an owner's secrets, or all except one and the recent ones", async () => {
  const [one, two] = [await vault.seal('ws_5', 'rule', 'one'), await vault.seal('ws_5', 'rule', 'two')];
  const other = await vault.seal('ws_5', 'another rule', 'one');
  await ageSecrets();
  const three = await vault.seal('ws_5', 'rule', 'three');
  const opened = async () =>
    Promise.all([one, two, three].map((fingerprint) => vault.open('ws_5', 'rule', fingerprint)));
  await vault.forget('ws_5', 'rule', two);
  expect(await opened()).toEqual([null, 'two', 'three']);
  await vault.forget('ws_5', 'rule');
  expect(await opened()).toEqual([null, null, null]);
  expect(await vault.open('ws_5', 'another rule', other)).toBe('one');
});

test('returns the secret of an owner that has one alone, and none of an owner with several', async () => {
  expect(await vault.openOnly('ws_7', 'rule')).toBeNull();
  const one = await vault.seal('ws_7', 'rule', 'one');
  await vault.seal('ws_7', 'another rule', 'other');
  expect(await vault.openOnly('ws_7', 'rule')).toBe('one');
  const two = await vault.seal('ws_7', 'rule', 'two');
  expect(await vault.openOnly('ws_7', 'rule')).toBeNull();
  await vault.forgetOne('ws_7', 'rule', one);
  expect(await vault.openOnly('ws_7', 'rule')).toBe('two');
  await vault.forgetOne('ws_7', 'rule', two);
  expect(await vault.openOnly('ws_7', 'rule')).toBeNull();
  expect(await vault.openOnly('ws_7', 'another rule')).toBe('other');
});

test('creates its tables when several processes open the vault concurrently', async () => {
  await Promise.all(Array.from({ length: 4 }, () => openSecretVault(pool, KEY)));
});
