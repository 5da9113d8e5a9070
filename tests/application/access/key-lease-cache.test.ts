import { describe, expect, test } from 'vitest';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { LEASE_PASSED_MS, openCallers } from '#application/access/key-lease-cache.ts';

const ROW = {
  sha256: 'hash',
  key_id: 'key_1',
  workspace_id: 'ws_1',
  member_id: 'mem_1',
  scopes: ['brands:read', 'apiKeys:write'],
  role: 'viewer',
  plan: 'free',
};

/** A database whose answers the test gives, one by one, as it sees fit. */
const createDatabase = () => {
  const asked: { of: unknown; answer(rows: readonly object[]): void; fail(): void }[] = [];
  const query = ({ values: [of] }: ReadQuery) =>
    new Promise<never>((resolve, reject) => {
      asked.push({
        of,
        answer: (rows) => resolve(rows as never),
        fail: () => reject(new Error('no database')),
      });
    });
  return { asked, db: { query, slow: query } as unknown as ReadDatabase };
};

const setup = () => {
  const { asked, db } = createDatabase();
  let now = 1_000;
  const callers = openCallers(db, () => now);
  return { asked, callers, pass: (ms: number) => (now += ms) };
};

const answered = async (found: unknown): Promise<unknown> => await found;

describe('callers', () => {
  test('are looked up once and then known at once', async () => {
    const { asked, callers } = setup();
    const first = callers.find('hash');
    asked[0]?.answer([ROW]);
    expect(await answered(first)).toMatchObject({ keyId: 'key_1', plan: 'free' });
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(asked).toHaveLength(1);
  });

  test("have no scope that the member's role does not allow", async () => {
    const { asked, callers } = setup();
    const found = callers.find('hash');
    asked[0]?.answer([ROW]);
    expect((await found)?.scopes).toEqual(new Set(['brands:read']));
  });

  test('are believed for less than the time a revocation waits', async () => {
    const { asked, callers, pass } = setup();
    const found = callers.find('hash');
    asked[0]?.answer([ROW]);
    await found;
    pass(LEASE_PASSED_MS);
    const again = callers.find('hash');
    expect(again).toBeInstanceOf(Promise);
    asked[1]?.answer([]);
    expect(await again).toBeNull();
  });

  test('age from before the look-up was sent, not from its answer', async () => {
    const { asked, callers, pass } = setup();
    const found = callers.find('hash');
    pass(LEASE_PASSED_MS);
    asked[0]?.answer([ROW]);
    await found;
    expect(callers.find('hash')).toBeInstanceOf(Promise);
    expect(asked).toHaveLength(2);
  });

  test('do not join a look-up that was sent before the lease of a revocation began', () => {
    const { asked, callers, pass } = setup();
    void callers.find('hash');
    void callers.find('hash');
    expect(asked).toHaveLength(1);
    pass(LEASE_PASSED_MS);
    void callers.find('hash');
    expect(asked).toHaveLength(2);
  });

  test('are not brought back by an older answer that comes in late', async () => {
    const { asked, callers, pass } = setup();
    const early = callers.find('hash');
    pass(LEASE_PASSED_MS);
    const late = callers.find('hash');
    asked[1]?.answer([{ ...ROW, plan: 'pro' }]);
    await late;
    asked[0]?.answer([ROW]);
    await early;
    expect(callers.find('hash')).toMatchObject({ plan: 'pro' });
  });

  test('are renewed in the background while in use, and a failed renewal is harmless', async () => {
    const { asked, callers, pass } = setup();
    const found = callers.find('hash');
    asked[0]?.answer([ROW]);
    await found;
    pass(200);
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(asked).toHaveLength(2);
    asked[1]?.fail();
    await new Promise(setImmediate);
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(asked).toHaveLength(3);
    asked[2]?.answer([{ ...ROW, plan: 'pro' }]);
    await new Promise(setImmediate);
    expect(callers.find('hash')).toMatchObject({ plan: 'pro' });
  });

  test('that were used are renewed along with one that is due, others are not', async () => {
    const { asked, callers, pass } = setup();
    const found = ['hash', 'used', 'idle', 'young'].map(async (sha256) => await callers.find(sha256));
    for (const one of asked) one.answer([{ ...ROW, sha256: (one.of as string[])[0] }]);
    await Promise.all(found);
    pass(100);
    expect(callers.find('used')).toMatchObject({ keyId: 'key_1' });
    pass(60);
    expect(callers.find('young')).toMatchObject({ keyId: 'key_1' });
    expect(asked.at(-1)?.of).toEqual(['young', 'used']);
    asked.at(-1)?.answer(['young', 'used'].map((sha256) => ({ ...ROW, sha256 })));
    await new Promise(setImmediate);
    expect(callers.find('young')).toMatchObject({ keyId: 'key_1' });
    // Renewed just now.
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(asked.at(-1)?.of).toEqual(['hash']);
    asked.at(-1)?.answer([]);
    await new Promise(setImmediate);
    expect(callers.find('hash')).toBeInstanceOf(Promise);
    expect(callers.find('used')).toMatchObject({ keyId: 'key_1' });
  });
});
