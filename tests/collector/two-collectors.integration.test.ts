import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROW_LEASE_MS } from '#platform/postgres/lease/row-lease.ts';
import {
  type Claimed,
  claimTarget,
  createHostStore,
  extendLease,
  recordWish,
} from '#services/collector/schedule/target-store.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { type CollectorStack, CONTACT, openCollectorStack } from './collector-stack.ts';
import { products, shopifyShop } from './played-shop.ts';

let stack: CollectorStack;
beforeAll(async () => {
  stack = await openCollectorStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const SHOPS = 12;

test('two collectors read each shop once, and each page of it once', async () => {
  const domains = Array.from({ length: SHOPS }, (_, index) => `both-${index}.example`);
  for (const domain of domains) stack.played.sites.set(domain, shopifyShop(products(260)).site);
  await using collectors = new AsyncDisposableStack();
  for (let count = 0; count < 2; count += 1) collectors.use(stack.start());
  await Promise.all(domains.map((domain) => stack.wish(domain)));
  for (const domain of domains) {
    expect((await stack.attempt(domain)).outcome).toBe('complete');
    expect(await stack.scans(domain)).toHaveLength(1);
  }
  const requests = stack.played.requests.filter((one) => one.startsWith('both-'));
  expect(new Set(requests).size).toBe(requests.length);
  const { rows } = await stack.database.query<{ attempts: number }>(
    `select count(*)::int as attempts from collecting.attempt where domain like 'both-%'`,
  );
  expect(rows[0]?.attempts).toBe(SHOPS);
});

test('a standby goes on where a killed collector stopped', async () => {
  await using resources = new AsyncDisposableStack();
  // By the clock of these processes, the shops of the test before would be due again.
  await stack.database.query('truncate collecting.target');
  const domain = 'standby.example';
  const shop = shopifyShop(products(260));
  const secondPage = '/products.json?limit=250&page=2';
  const isReading = Promise.withResolvers<void>();
  let hangs = true;
  stack.played.sites.set(domain, (path, request) => {
    if (path !== secondPage || !hangs) return shop.site(path, request);
    hangs = false;
    return () => isReading.resolve();
  });
  const start = async () => {
    const collector = startProcess('services/collector/main.ts', {
      DATABASE_URL: stack.databaseUrl,
      NATS_URL: stack.natsUrl,
      COLLECT_CONTACT: CONTACT,
      COLLECT_SOURCES: 'storefront',
      COLLECT_VIA: stack.played.origin,
      EGRESS_ALLOW_LOOPBACK: 'true',
    });
    resources.defer(async () => void (await collector.stop()));
    await collector.says('collector started');
    return collector;
  };
  const leader = await start();
  await stack.wish(domain);
  await isReading.promise;
  await start();
  await leader.kill();
  // The lease of the killed process would expire within a minute.
  await stack.database.query('update collecting.target set lease_until = now() where domain = $1', [domain]);
  expect((await stack.attempt(domain)).outcome).toBe('complete');
  const paths = stack.played.requests.filter((one) => one.startsWith(`${domain} `));
  expect(paths.filter((one) => one.endsWith('page=1'))).toHaveLength(1);
  const [scan] = await stack.scans(domain);
  expect(scan?.products).toHaveLength(260);
});

test('a collector whose clock is ahead leaves alone what another reads', async () => {
  const at = new Date(stack.nowMs);
  const target = { source: 'storefront', domain: 'held.example' };
  await recordWish(stack.database, { ...target, cadence: 'daily', at, isUrgent: true });
  const claimAt = (owner: string, aheadMs: number) =>
    claimTarget(stack.database, {
      sources: [target.source],
      owner,
      now: new Date(at.getTime() + aheadMs),
      leaseNow: null,
      weeklyFirst: false,
      domain: target.domain,
    });
  const claimed = await claimAt('first', 0);
  expect(claimed).toMatchObject(target);
  expect(await claimAt('ahead', 2 * ROW_LEASE_MS)).toBeNull();
  await extendLease(stack.database, claimed as Claimed, null);
  expect(await claimAt('ahead', 2 * ROW_LEASE_MS)).toBeNull();
  await stack.database.query('update collecting.target set lease_until = now()');
  expect(await claimAt('late', 0)).toMatchObject({ ...target, owner: 'late' });
});

test('two collectors with different clocks never exceed the pace of a host', async () => {
  await using resources = new AsyncDisposableStack();
  const pools = [openPool(stack.databaseUrl, 4), openPool(stack.databaseUrl, 4)] as const;
  for (const pool of pools) resources.defer(() => pool.end());
  const stores = pools.map(createHostStore);
  const startMs = Date.parse('2026-05-01T08:00:00Z');
  let hosts = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          collector: fc.constantFrom(0, 1),
          spacingMs: fc.constantFrom(5_000, 7_500, 60_000),
          nowMs: fc.integer({ min: 0, max: 120_000 }).map((afterMs) => startMs + afterMs),
        }),
        { minLength: 1, maxLength: 20 },
      ),
      async (reservations) => {
        hosts += 1;
        const host = `paced-${hosts}.example`;
        const starts = await Promise.all(
          reservations.map(async ({ collector, spacingMs, nowMs }) => {
            const beginsMs = await stores[collector]?.reserve(host, spacingMs, nowMs);
            if (beginsMs === undefined) throw new Error('No such collector.');
            expect(beginsMs).toBeGreaterThanOrEqual(nowMs);
            return { beginsMs, spacingMs };
          }),
        );
        const ordered = starts.toSorted((a, b) => a.beginsMs - b.beginsMs);
        for (const [index, { beginsMs }] of ordered.entries()) {
          const before = ordered[index - 1];
          if (before !== undefined) {
            expect(beginsMs - before.beginsMs).toBeGreaterThanOrEqual(before.spacingMs);
          }
        }
      },
    ),
    { numRuns: 30 },
  );
});
