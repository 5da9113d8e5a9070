import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import { silentLog } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { createHostStore } from '#services/collector/schedule/host-store.ts';
import { runTargets } from '#services/collector/schedule/run-targets.ts';
import { recordWish } from '#services/collector/schedule/target-store.ts';
import { openCollectorStack, until } from './collector-stack.ts';
import { products, shopifyShop } from './played-shop.ts';

const PRODUCTS = 260;
/** Points that a reading passes at least; a test that counts fewer does not see the commits. */
const POINTS_MIN = 10;
/** Limit of the loop, far over the points of this shop. */
const POINTS_MAX = 200;

/** A process that dies right after the n-th thing that it stored or published. */
class DyingProcess {
  readonly ended = new AbortController();
  private passed = 0;

  private readonly at: number;
  constructor(at: number) {
    this.at = at;
  }

  get isDead(): boolean {
    return this.ended.signal.aborted;
  }

  private requireAlive(): void {
    if (this.isDead) throw new Error('This process was killed.');
  }

  private pass(): void {
    this.passed += 1;
    if (this.passed === this.at) this.ended.abort();
  }

  private async query(
    target: Pick<Database, 'query'>,
    isInTransaction: boolean,
    text: string,
    values?: unknown[],
  ) {
    // Postgres itself rolls back when a process dies.
    if (text !== 'rollback') this.requireAlive();
    const result = await target.query(text, values);
    const isCommit = isInTransaction ? text === 'commit' : !/^\s*select\b/i.test(text);
    // A claim that finds nothing stores nothing.
    if (isCommit && (text === 'commit' || (result.rowCount ?? 0) > 0)) this.pass();
    return result;
  }

  database(database: Database): Database {
    const connect = async (): Promise<Transaction> => {
      this.requireAlive();
      const client = await database.connect();
      return {
        query: (text: string, values?: unknown[]) => this.query(client, true, text, values),
        release: (error?: Error) => client.release(error),
      } as unknown as Transaction;
    };
    return {
      connect,
      query: (text: string, values?: unknown[]) => this.query(database, false, text, values),
    } as unknown as Database;
  }

  /** Adds what is published to `messages`, and requires that a repeated message has equal bytes. */
  jetstream({ jetstream }: Nats, messages: Map<string, string>): Pick<Nats, 'jetstream'> {
    const publish: Nats['jetstream']['publish'] = async (subject, payload, options) => {
      this.requireAlive();
      const id = options?.msgID ?? '';
      const text = String(payload);
      expect(messages.get(id) ?? text).toBe(text);
      messages.set(id, text);
      const stored = await jetstream.publish(subject, payload, options);
      this.pass();
      return stored;
    };
    return { jetstream: { publish } as Nats['jetstream'] };
  }
}

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
        sources: ['storefront'],
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
