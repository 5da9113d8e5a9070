import { scrapeWanted } from '#contracts/messages/subjects.ts';
import { type Observation, Observation as ObservationSchema } from '#contracts/observations/index.ts';
import type { StorefrontScanEnd, StorefrontScanPage } from '#contracts/observations/storefront-scan.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { type Log, silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { type CollectorOptions, runCollector } from '#services/collector/collector.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { createTestDatabase, createTestNats } from '#tests/stack/database.ts';
import { parsedObservations } from '#tests/dsl/queued-observations.ts';
import { openPlayedSites, type PlayedSites } from '#tests/platform/http-client/played-sites.ts';

export const CONTACT = 'https://operator.example';
const WAIT_MS = 120_000;
const LOOK_MS = 20;

/** Polls `look` until it returns a value other than `null`. */
export const until = async <T>(what: string, look: () => Promise<T | null>): Promise<T> => {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${WAIT_MS} ms.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

export type AttemptRow = { readonly outcome: string; readonly detail: string | null };
export type Scan = {
  readonly end: StorefrontScanEnd;
  readonly products: StorefrontScanPage['products'];
};

export type CollectorStack = AsyncDisposable & {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly nats: Nats;
  readonly natsUrl: string;
  readonly played: PlayedSites;
  nowMs: number;
  start(options?: {
    readonly archive?: CollectorOptions['archive'];
    /** Absent: shops, and the library API with its access. */
    readonly sources?: readonly string[];
    readonly log?: Log;
  }): AsyncDisposable;
  wish(domain: string, cadence?: 'daily' | 'weekly', source?: string): Promise<void>;
  attempt(domain: string, n?: number): Promise<AttemptRow>;
  observations(): Promise<readonly Observation[]>;
  scans(domain: string): Promise<readonly Scan[]>;
  target(domain: string): Promise<{ readonly due_at: Date; readonly retry_at: Date | null }>;
};

export const openCollectorStack = async (): Promise<CollectorStack> => {
  const resources = new AsyncDisposableStack();
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  const server = await createTestNats();
  resources.defer(() => server.stop());
  const nats = resources.use(await openNats(server.url, 'test'));
  const database = openPool(created.url, 12);
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(created.url));
  const played = resources.use(await openPlayedSites());
  const egress = resources.use(openEgress({ allowLoopback: true }));
  await createCollectorTables(database);
  let wishes = 0;

  const observations = parsedObservations(nats, (json): Observation => ObservationSchema.parse(json));

  const clock = { now: () => new Date(stack.nowMs) };
  const stack: CollectorStack = {
    database,
    databaseUrl: created.url,
    nats,
    natsUrl: server.url,
    played,
    nowMs: Date.parse('2026-05-01T08:00:00Z'),
    start: (options = {}) => {
      const stopping = new AbortController();
      const running = runCollector({
        database,
        db,
        nats,
        egress,
        via: played.origin,
        contact: CONTACT,
        botKey: null,
        sources: options.sources ?? (options.archive ? ['storefront', 'ads_archive'] : ['storefront']),
        archive: options.archive ?? null,
        clock,
        leaseClock: clock,
        log: options.log ?? silentLog(),
        signal: stopping.signal,
      });
      return {
        [Symbol.asyncDispose]: async () => {
          stopping.abort();
          await running;
        },
      };
    },
    wish: async (domain, cadence = 'daily', source = 'storefront') => {
      wishes += 1;
      const wish = {
        brand_domain: domain,
        cadence,
        requested_at: '2026-05-01T08:00:00.000Z',
        reason: 'operator',
      };
      await nats.jetstream.publish(scrapeWanted(source), JSON.stringify(wish), {
        msgID: `wish-${wishes}`,
      });
    },
    attempt: (domain, n = 1) =>
      until(`attempt ${n} at ${domain}`, async () => {
        const { rows } = await database.query<AttemptRow>(
          'select outcome, detail from collecting.attempt where domain = $1 order by attempt_id',
          [domain],
        );
        return rows[n - 1] ?? null;
      }),
    observations,
    scans: async (domain) => {
      const all = await observations();
      return all.flatMap((end) => {
        if (end.type !== 'storefront.scan_end' || end.domain !== domain) return [];
        const pages = all.filter((one) => one.type === 'storefront.scan' && one.scan_id === end.scan_id);
        return [{ end, products: pages.flatMap((page) => (page as StorefrontScanPage).products) }];
      });
    },
    target: async (domain) => {
      const { rows } = await database.query<{ due_at: Date; retry_at: Date | null }>(
        'select due_at, retry_at from collecting.target where domain = $1',
        [domain],
      );
      if (rows[0] === undefined) throw new Error(`${domain} is no target.`);
      return rows[0];
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
  return stack;
};
