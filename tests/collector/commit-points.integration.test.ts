import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import { silentLog } from '#platform/logger.ts';
import { createHostStore } from '#services/collector/schedule/host-store.ts';
import { runTargets } from '#services/collector/schedule/run-targets.ts';
import { storefrontReader } from '#services/collector/storefront/read-storefront.ts';
import { recordWish } from '#services/collector/schedule/target-store.ts';
import { openCollectorStack, until } from './collector-stack.ts';
import { DyingProcess } from './dying-process.ts';
import { products, shopifyShop } from './played-shop.ts';

const PRODUCTS = 260;
/** Points that a reading passes at least; a test that counts fewer does not see the commits. */
const POINTS_MIN = 10;
/** Limit of the loop, far over the points of this shop. */
const POINTS_MAX = 200;

test('a collector that is killed at any commit leaves what the next one publishes once, with the same bytes', async () => {
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await openCollectorStack());
  const egress = resources.use(openEgress({ allowLoopback: true }));
  const clock = { now: () => new Date(stack.nowMs) };

  /** Reads due targets until the process dies, or the target has an attempt. */
  const run = async (domain: string, dying: DyingProcess, messages: Map<string, string>): Promise<void> => {
    const database = dying.database(stack.database);
    const done = new AbortController();
    const running = runTargets(
      {
        database,
        nats: dying.jetstream(stack.nats, messages),
        client: createPoliteClient({
          egress,
          via: stack.played.origin,
          hosts: createHostStore(database),
          clock,
          userAgent: 'test (+https://operator.example)',
          paceMs: 0,
        }),
        clock,
        log: silentLog(),
        signal: AbortSignal.any([dying.ended.signal, done.signal]),
        readers: { storefront: storefrontReader },
        owner: randomUUID(),
      },
      createWakeSignal(),
    );
    await until(`the end of ${domain}`, async () => {
      if (dying.isDead) return true;
      const { rows } = await stack.database.query(
        'select 1 from collecting.attempt where domain = $1 limit 1',
        [domain],
      );
      return rows.length > 0 ? true : null;
    });
    done.abort();
    await running;
  };

  let points = 0;
  for (; points < POINTS_MAX; points += 1) {
    const domain = `point-${points + 1}.example`;
    const messages = new Map<string, string>();
    stack.played.sites.set(domain, shopifyShop(products(PRODUCTS)).site);
    const wish = { source: 'storefront', domain, cadence: 'daily', at: clock.now(), isUrgent: true } as const;
    await recordWish(stack.database, wish);
    const dying = new DyingProcess(points + 1);
    await run(domain, dying, messages);
    if (dying.isDead) {
      // The lease of a killed process expires within a minute. The next one starts at another time.
      stack.nowMs += 60_000;
      await stack.database.query('update collecting.target set lease_until = null where domain = $1', [
        domain,
      ]);
      await run(domain, new DyingProcess(Number.POSITIVE_INFINITY), messages);
    }
    const scans = await stack.scans(domain);
    expect(
      scans.map(({ end }) => end.complete),
      domain,
    ).toEqual([true]);
    expect(new Set(scans[0]?.products.map(({ id }) => id)).size, domain).toBe(PRODUCTS);
    const { rows } = await stack.database.query(
      `select outcome, (select count(*)::int from collecting.batch where domain = $1) as batches
       from collecting.attempt where domain = $1`,
      [domain],
    );
    expect(rows, domain).toEqual([{ outcome: 'complete', batches: 0 }]);
    if (!dying.isDead) break;
  }
  expect(points).toBeGreaterThan(POINTS_MIN);
  expect(points).toBeLessThan(POINTS_MAX);
});
