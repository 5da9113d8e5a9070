import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { rotateMasterKey } from '#application/vault/rotate-master-key.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { createCursors } from '#operations/dependencies/cursors.ts';
import { createDownloadLinks, createLinkSigner } from '#operations/dependencies/links.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

// Three steps without an interruption: the new secret is accepted, then used, then the only one.
const OLD = 'the old secret';
const NEW = 'the new secret';

test('cursors stay valid during a rotation of their secret', () => {
  const [before, during, after] = [createCursors(OLD, NEW), createCursors(NEW, OLD), createCursors(NEW)];
  const [old, young] = [before.sign('f', [1]), during.sign('f', [2])];
  for (const one of [before, during]) {
    expect(one.open(old, 'f')).toEqual([1]);
    expect(one.open(young, 'f')).toEqual([2]);
  }
  expect(after.open(young, 'f')).toEqual([2]);
  expect(() => after.open(old, 'f')).toThrow('The cursor is invalid.');
});

test('download links stay valid during a rotation of their secret', () => {
  const now = new Date('2026-05-01T08:00:00.000Z');
  const [before, during, after] = [
    createDownloadLinks(createLinkSigner(OLD, NEW), 'https://api.test'),
    createDownloadLinks(createLinkSigner(NEW, OLD), 'https://api.test'),
    createDownloadLinks(createLinkSigner(NEW), 'https://api.test'),
  ];
  const queryOf = (links: typeof before): Record<string, string> =>
    Object.fromEntries(
      new URL(links.sign({ fileName: 'a.csv', objectKey: 'reports/a' }, now).url).searchParams,
    );
  const [old, young] = [queryOf(before), queryOf(during)];
  for (const one of [before, during]) {
    expect(one.open('a.csv', old, now).objectKey).toBe('reports/a');
    expect(one.open('a.csv', young, now).objectKey).toBe('reports/a');
  }
  expect(after.open('a.csv', young, now).objectKey).toBe('reports/a');
  expect(() => after.open('a.csv', old, now)).toThrow('The link is invalid.');
  expect(() => during.open('b.csv', old, now)).toThrow('The link is invalid.');
});

describe('rotation of the vault master key', () => {
  const [oldKey, newKey, otherKey] = [1, 2, 3].map(() => randomBytes(32).toString('base64'));
  let pool: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await createTestDatabase();
    drop = () => database.drop();
    pool = openPool(database.url, 2);
  });
  afterAll(async () => {
    await pool.end();
    await drop();
  });

  test('encrypts all rows with the new key, and afterwards the old key decrypts nothing', async () => {
    const [old = '', young = '', other = ''] = [oldKey, newKey, otherKey];
    const person = { name: 'Ada', email: 'ada@shop.example' };
    const members = await openMemberVault(pool, old);
    const sealed = await members.seal('ws_a', 'mem_a', person);
    const fingerprint = await (await openSecretVault(pool, old)).seal('ws_a', 'webhook-secret', 'hush');

    const during = await openMemberVault(pool, young, old);
    expect(await during.open('ws_a', 'mem_a', sealed)).toEqual(person);
    const sealedYoung = await during.seal('ws_a', 'mem_b', person);
    const secretsDuring = await openSecretVault(pool, young, old);
    expect(await secretsDuring.open('ws_a', 'webhook-secret', fingerprint)).toBe('hush');
    await expect((await openMemberVault(pool, young)).open('ws_a', 'mem_a', sealed)).rejects.toThrow(
      /authenticate/,
    );

    await expect(rotateMasterKey(pool, young, other)).rejects.toThrow(/authenticate/);
    // Two keys of members, one secret, and the key of the address index.
    expect(await rotateMasterKey(pool, young, old)).toEqual({ rewrapped: 3, already: 1 });
    expect(await rotateMasterKey(pool, young, old)).toEqual({ rewrapped: 0, already: 4 });

    const after = await openMemberVault(pool, young);
    expect(await after.open('ws_a', 'mem_a', sealed)).toEqual(person);
    expect(await after.open('ws_a', 'mem_b', sealedYoung)).toEqual(person);
    expect(await (await openSecretVault(pool, young)).open('ws_a', 'webhook-secret', fingerprint)).toBe(
      'hush',
    );
    await expect(members.open('ws_a', 'mem_a', sealed)).rejects.toThrow(/authenticate/);
  });
});
