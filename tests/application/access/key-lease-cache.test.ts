import { describe, expect, test } from 'vitest';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { LEASE_PASSED_MS, createKeyLeaseCache } from '#application/access/key-lease-cache.ts';

const ROW = {
  sha256: 'hash',
  key_id: 'key_1',
  workspace_id: 'ws_1',
  member_id: 'mem_1',
  scopes: ['brands:read', 'apiKeys:write'],
  role: 'viewer',
  plan: 'free',
};

/** Database stub: the test resolves or rejects each query by hand. */
const createDatabase = () => {
  const queries: { hashes: unknown; resolve(rows: readonly object[]): void; fail(): void }[] = [];
  const query = ({ values: [hashes] }: ReadQuery) =>
    new Promise<never>((resolve, reject) => {
      queries.push({
        hashes,
        resolve: (rows) => resolve(rows as never),
        fail: () => reject(new Error('no database')),
      });
    });
  return { queries, db: { query, slow: query } as unknown as ReadDatabase };
};

const setup = () => {
  const { queries, db } = createDatabase();
  let now = 1_000;
  const callers = createKeyLeaseCache(db, () => now);
  return { queries, callers, pass: (ms: number) => (now += ms) };
};

const resolved = async (found: unknown): Promise<unknown> => await found;

describe('key lease cache', () => {
  test('queries a key once and returns the cached caller synchronously', async () => {
    const { queries, callers } = setup();
    const first = callers.find('hash');
    queries[0]?.resolve([ROW]);
    expect(await resolved(first)).toMatchObject({ keyId: 'key_1', plan: 'free' });
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(queries).toHaveLength(1);
  });

  test("removes scopes that the member's role does not allow", async () => {
    const { queries, callers } = setup();
    const found = callers.find('hash');
    queries[0]?.resolve([ROW]);
    expect((await found)?.scopes).toEqual(new Set(['brands:read']));
  });

  test('expires a lease within the time that a revocation waits', async () => {
    const { queries, callers, pass } = setup();
    const found = callers.find('hash');
    queries[0]?.resolve([ROW]);
    await found;
    pass(LEASE_PASSED_MS);
    const again = callers.find('hash');
    expect(again).toBeInstanceOf(Promise);
    queries[1]?.resolve([]);
    expect(await again).toBeNull();
  });

  test('counts the age of a lease from before its query was sent', async () => {
    const { queries, callers, pass } = setup();
    const found = callers.find('hash');
    pass(LEASE_PASSED_MS);
    queries[0]?.resolve([ROW]);
    await found;
    expect(callers.find('hash')).toBeInstanceOf(Promise);
    expect(queries).toHaveLength(2);
  });

  test('joins a query in flight only while that query is younger than the lease', () => {
    const { queries, callers, pass } = setup();
    void callers.find('hash');
    void callers.find('hash');
    expect(queries).toHaveLength(1);
    pass(LEASE_PASSED_MS);
    void callers.find('hash');
    expect(queries).toHaveLength(2);
  });

  test('keeps the newer result when an older query resolves late', async () => {
    const { queries, callers, pass } = setup();
    const early = callers.find('hash');
    pass(LEASE_PASSED_MS);
    const late = callers.find('hash');
    queries[1]?.resolve([{ ...ROW, plan: 'pro' }]);
    await late;
    queries[0]?.resolve([ROW]);
    await early;
    expect(callers.find('hash')).toMatchObject({ plan: 'pro' });
  });

  test('renews a lease in use in the background and tolerates a failed renewal', async () => {
    const { queries, callers, pass } = setup();
    const found = callers.find('hash');
    queries[0]?.resolve([ROW]);
    await found;
    pass(200);
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(queries).toHaveLength(2);
    queries[1]?.fail();
    await new Promise(setImmediate);
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(queries).toHaveLength(3);
    queries[2]?.resolve([{ ...ROW, plan: 'pro' }]);
    await new Promise(setImmediate);
    expect(callers.find('hash')).toMatchObject({ plan: 'pro' });
  });

  test('renews used leases together with a due one, and no unused leases', async () => {
    const { queries, callers, pass } = setup();
    const found = ['hash', 'used', 'idle', 'young'].map(async (sha256) => await callers.find(sha256));
    for (const query of queries) query.resolve([{ ...ROW, sha256: (query.hashes as string[])[0] }]);
    await Promise.all(found);
    pass(100);
    expect(callers.find('used')).toMatchObject({ keyId: 'key_1' });
    pass(60);
    expect(callers.find('young')).toMatchObject({ keyId: 'key_1' });
    expect(queries.at(-1)?.hashes).toEqual(['young', 'used']);
    queries.at(-1)?.resolve(['young', 'used'].map((sha256) => ({ ...ROW, sha256 })));
    await new Promise(setImmediate);
    expect(callers.find('young')).toMatchObject({ keyId: 'key_1' });
    expect(callers.find('hash')).toMatchObject({ keyId: 'key_1' });
    expect(queries.at(-1)?.hashes).toEqual(['hash']);
    queries.at(-1)?.resolve([]);
    await new Promise(setImmediate);
    expect(callers.find('hash')).toBeInstanceOf(Promise);
    expect(callers.find('used')).toMatchObject({ keyId: 'key_1' });
  });
});
