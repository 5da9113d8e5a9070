import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { pause } from '#platform/clock.ts';
import {
  type Lease,
  LeaseLost,
  type Leases,
  openLeases,
  proveLease,
} from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, openPool, withProof } from '#platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../../stack/database.ts';
import { limitMs, runs, seedOf } from '../../../property-seed.ts';

const OWNERS = 3;
let own: TestDatabase;
let database: Database;
let owners: readonly Leases[];
beforeAll(async () => {
  own = await createTestDatabase();
  database = openPool(own.url, 8);
  owners = await Promise.all(Array.from({ length: OWNERS }, () => openLeases(own.url)));
  await database.query('create table applied (batch int not null)');
  await database.query(`insert into run.progress (kind, part, position, epoch) values ('work', 'all', 0, 0)`);
});
afterAll(async () => {
  for (const one of owners) await one[Symbol.asyncDispose]();
  await database.end();
  await own.drop();
});

/** Ends the lease as the clock does for a process that was stopped. */
const expire = (kind: string): Promise<unknown> =>
  database.query(`update run.lease set until = now() - interval '1 second' where kind = $1`, [kind]);

type Step =
  | { readonly kind: 'acquire' | 'write' | 'release'; readonly owner: number }
  | { readonly kind: 'expire' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('acquire' as const, 'write' as const),
      owner: fc.nat(OWNERS - 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), owner: fc.nat(OWNERS - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
);

describe('a lease', () => {
  test(
    'is granted to one owner at a time with a growing epoch, and only the last owner may write',
    async () => {
      let histories = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          histories += 1;
          const kind = `model ${histories}`;
          const granted: (Lease | null)[] = Array.from({ length: OWNERS }, () => null);
          let epoch = 0n;
          let isFree = true;
          for (const one of steps) {
            if (one.kind === 'expire') {
              await expire(kind);
              isFree = true;
              continue;
            }
            const leases = owners[one.owner] as Leases;
            const lease = granted[one.owner] ?? null;
            if (one.kind === 'acquire') {
              const taken = await leases.acquire({ kind, part: 'all' });
              expect(taken !== null).toBe(isFree);
              if (taken === null) continue;
              expect(taken.epoch).toBeGreaterThan(epoch);
              epoch = taken.epoch;
              granted[one.owner] = taken;
              isFree = false;
            } else if (one.kind === 'release') {
              if (lease === null) continue;
              await leases.release(lease);
              granted[one.owner] = null;
              if (lease.epoch === epoch) isFree = true;
            } else if (lease !== null) {
              const proof = inTransaction(database, (client) => proveLease(client, lease));
              if (lease.epoch === epoch) await proof;
              else await expect(proof).rejects.toThrow(LeaseLost);
            }
          }
        }),
        { numRuns: runs(15), seed: seedOf(17) },
      );
    },
    limitMs(60_000),
  );

  test('is lost by its owner when another process takes it over', async () => {
    const [first, second] = owners as [Leases, Leases];
    const lease = (await first.acquire({ kind: 'stolen', part: 'all' })) as Lease;
    // The owner may renew it in between.
    const taken = async () => {
      await expire('stolen');
      return await second.acquire({ kind: 'stolen', part: 'all' });
    };
    await expect.poll(taken, { timeout: 60_000 }).not.toBeNull();
    await expect.poll(() => lease.lost.aborted, { timeout: 60_000 }).toBe(true);
  });

  test('is not taken over while a transaction that proved it is open', async () => {
    const [first, second] = owners as [Leases, Leases];
    const lease = (await first.acquire({ kind: 'open', part: 'all' })) as Lease;
    await expire('open');
    await inTransaction(database, async (client) => {
      await proveLease(client, lease);
      expect(await second.acquire({ kind: 'open', part: 'all' })).toBeNull();
    });
    // The owner renews it, since no other process took it.
    const taken = async () => {
      await expire('open');
      return await second.acquire({ kind: 'open', part: 'all' });
    };
    await expect.poll(taken, { timeout: 60_000 }).not.toBeNull();
    await expect(inTransaction(database, (client) => proveLease(client, lease))).rejects.toThrow(LeaseLost);
  });

  test('is proved by its last owner alone, when a failover to a standby lost the takeover before', async () => {
    const [first, second, third] = owners as [Leases, Leases, Leases];
    const name = { kind: 'failed over', part: 'all' };
    const before = (await first.acquire(name)) as Lease;
    await expire(name.kind);
    const lost = (await second.acquire(name)) as Lease;
    // The new primary lacks the takeover.
    await database.query(
      `update run.lease set owner = $2, epoch = $3, until = now() - interval '1 second' where kind = $1`,
      [name.kind, first.owner, before.epoch],
    );
    const last = (await third.acquire(name)) as Lease;
    await inTransaction(database, (client) => proveLease(client, last));
    for (const lease of [before, lost]) {
      const proof = inTransaction(database, (client) => proveLease(client, lease));
      await expect(proof).rejects.toThrow(LeaseLost);
    }
  });

  test('ends a transaction whose proof fails, with nothing written', async () => {
    const [first, second] = owners as [Leases, Leases];
    const lease = (await first.acquire({ kind: 'fenced', part: 'all' })) as Lease;
    const fenced = withProof(database, (client) => proveLease(client, lease));
    await inTransaction(fenced, (client) => client.query('insert into applied (batch) values (-1)'));
    await expire('fenced');
    await second.acquire({ kind: 'fenced', part: 'all' });
    await expect(
      inTransaction(fenced, (client) => client.query('insert into applied (batch) values (-2)')),
    ).rejects.toThrow(LeaseLost);
    expect((await database.query('delete from applied where batch < 0 returning batch')).rows).toEqual([
      { batch: -1 },
    ]);
  });
});

/** Applies batches with pauses between statements, so that others rob it in the middle. */
const applyBatches = async (leases: Leases, batches: number, signal: AbortSignal): Promise<number> => {
  let takeovers = 0;
  while (!signal.aborted) {
    const lease = await leases.acquire({ kind: 'work', part: 'all' });
    if (lease === null) {
      await pause(Math.random() * 5, signal);
      continue;
    }
    takeovers += 1;
    try {
      for (;;) {
        const { rows } = await database.query<{ position: string }>(
          `select position from run.progress where kind = 'work'`,
        );
        const position = Number(rows[0]?.position);
        if (position >= batches) return takeovers;
        await inTransaction(database, async (client) => {
          await client.query('insert into applied (batch) values ($1)', [position]);
          await pause(Math.random() * 4);
          const moved = await client.query(
            `update run.progress set position = $1 where kind = 'work' and position = $2 and epoch = $3`,
            [position + 1, position, lease.epoch],
          );
          if (moved.rowCount !== 1) throw new LeaseLost(lease);
        });
      }
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      await leases.release(lease);
    }
  }
  return takeovers;
};

test('three owners that rob each other apply each batch once', { timeout: limitMs(120_000) }, async () => {
  const batches = runs(250);
  const ending = new AbortController();
  const robbing = (async () => {
    while (!ending.signal.aborted) {
      await pause(Math.random() * 8, ending.signal);
      await expire('work');
    }
  })();
  const takeovers = await Promise.all(owners.map((leases) => applyBatches(leases, batches, ending.signal)));
  ending.abort();
  await robbing;
  const { rows } = await database.query<{ applied: number; different: number }>(
    'select count(*)::int as applied, count(distinct batch)::int as different from applied',
  );
  expect(rows).toEqual([{ applied: batches, different: batches }]);
  expect(takeovers.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(OWNERS);
});
