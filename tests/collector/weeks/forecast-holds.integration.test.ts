import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { planArchive } from '#application/collecting/plan-sources.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { DAY_MS, WEEK_MS } from '#contracts/values/time.ts';
import { createArchiveWorld, type WorldAd } from '#tests/world/archive-world.ts';
import { createWorldClock } from '#tests/world/world-clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { type Egress, openEgress } from '#platform/egress/http-client.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { storeToken } from '#services/collector/ads-archive/account-store.ts';
import { runArchive } from '#services/collector/ads-archive/run-batches.ts';
import { createTables } from '#application/read-models/schema.ts';
import { until } from '#tests/stack/wait-until.ts';
import { openCollectorStack } from '../collector-stack.ts';

/** Compares a round with its forecast. `npm run trials -- collect-forecast` has 10,000 brands. */
const BRANDS = Number(inheritedEnvironment()['COLLECT_FORECAST_BRANDS'] ?? 100);
const PAGES_PER_BRAND = 2;
const ADS_PER_PAGE = 5;
/** Brands that fit into a batch of ten pages. */
const BRANDS_PER_BATCH = 5;
const TOLERANCE = 0.05;
const TOKEN = 'EAAtokenoftheforecasttokenofthe';
const START_MS = Date.parse('2026-05-10T08:00:00Z');
const WAIT_MS = 60 * 60_000;

const domainOf = (brand: number): string => `brand-${String(brand).padStart(5, '0')}.example`;
const pageIdOf = (brand: number, page: number): string =>
  String(100_000_000 + brand * PAGES_PER_BRAND + page);

/** Ads of a page: some run, and in every second batch one has ended. */
const adsOf = (pageId: string): readonly WorldAd[] => {
  const page = Number(pageId) - 100_000_000;
  const hasEnded = page % (2 * BRANDS_PER_BATCH * PAGES_PER_BRAND) === 0;
  return Array.from({ length: ADS_PER_PAGE + (hasEnded ? 1 : 0) }, (_, index) => ({
    id: String(900_000_000_000_000 + page * 10 + index),
    pageId,
    pageName: `Page ${pageId}`,
    createdSeconds: START_MS / 1_000 - 50 * 86_400 - index,
    startedOn: '2026-04-01',
    stoppedOn: index === ADS_PER_PAGE ? '2026-05-09' : null,
    bodies: [`Body ${index}`],
    titles: ['Title'],
    caption: 'shop.example',
    countries: ['DE'],
  }));
};

const addBrands = async (database: Database): Promise<void> => {
  await inTransaction(database, async (client) => {
    await createTables(client, brands, 'brands');
    await createTables(client, socialPages, 'social_pages');
  });
  const numbers = Array.from({ length: BRANDS }, (_, brand) => brand);
  const ids = numbers.map(() => randomUUID());
  await database.query(
    'insert into brands.brand (brand_id, domain) select * from unnest($1::uuid[], $2::text[])',
    [ids, numbers.map(domainOf)],
  );
  for (let page = 0; page < PAGES_PER_BRAND; page += 1) {
    const pageIds = numbers.map((brand) => pageIdOf(brand, page));
    await database.query(
      'insert into social_pages.link (brand_id, social_page_id) select * from unnest($1::uuid[], $2::text[])',
      [ids, pageIds],
    );
    await database.query(
      'insert into collecting.archive_page (social_page_id, ads, scanned_at) select unnest($1::text[]), $2, $3',
      [pageIds, ADS_PER_PAGE, new Date(START_MS - WEEK_MS)],
    );
  }
  await database.query(
    `insert into collecting.target (source, domain, cadence, wished_at, due_at, scanned_at, complete_at)
     select 'ads_archive', unnest($1::text[]), 'weekly', $2, $2, $3, $3`,
    [numbers.map(domainOf), new Date(START_MS), new Date(START_MS - WEEK_MS)],
  );
};

test(
  'a round of the official library takes the calls and the days that the plan forecasts, within 5 %',
  async () => {
    await using resources = new AsyncDisposableStack();
    const stack = resources.use(await openCollectorStack());
    const { database } = stack;
    const clock = createWorldClock(START_MS);
    const world = createArchiveWorld(() => clock.now(), adsOf);
    world.tokens.add(TOKEN);
    world.percentPerCall = 0.2;
    const vault = await openSecretVault(database, Buffer.alloc(32, 7).toString('base64'));
    await storeToken(database, vault, { token: TOKEN, expiresAt: null, now: clock.now() });
    await addBrands(database);
    const plan = await planArchive(database, clock.now(), 150);

    const guarded = resources.use(openEgress({ allowLoopback: true }));
    /** Answers in this process, so that the scheduler is measured and not the network. */
    const request = async ({ path, headers }: { path: string; headers: Record<string, string> }) => {
      const answer = world.answer({ path, authorization: headers['authorization'] });
      if (answer === null) throw new Error('The world closed the connection.');
      return {
        statusCode: answer.status,
        headers: answer.headers,
        body: Readable.from([Buffer.from(answer.body)]),
      };
    };
    const egress = { ...guarded, dispatcher: { request } } as unknown as Egress;
    const stopping = new AbortController();
    const db = resources.use(openReadDatabase(stack.databaseUrl));
    let published = 0;
    const running = runArchive(
      {
        database,
        db,
        nats: {
          jetstream: {
            publish: async () => {
              published += 1;
              return { seq: published };
            },
          } as never,
        },
        vault,
        route: { egress, via: 'http://127.0.0.1:9' },
        origin: 'https://graph.facebook.com',
        version: 'v24.0',
        appSecret: null,
        countries: ['DE'],
        reached: false,
        callsPerHour: 150,
        userAgent: 'ad-intelligence/0.1.0 (+https://operator.example)',
        clock,
        log: silentLog(),
        signal: stopping.signal,
        wait: (ms) => Promise.resolve(clock.advance(ms)),
      },
      createWakeSignal(),
    );
    let endedMs = 0;
    await until('the end of the round', WAIT_MS, async () => {
      const { rows } = await database.query<{ left: number; last: Date | null }>(
        `select count(*) filter (where scanned_at < $1)::int as left, max(tried_at) as last from collecting.target`,
        [new Date(START_MS)],
      );
      endedMs = rows[0]?.last?.getTime() ?? 0;
      return rows[0]?.left === 0;
    });
    stopping.abort();
    await running;

    const { rows } = await database.query<{ outcome: string; attempts: number }>(
      'select outcome, count(*)::int as attempts from collecting.attempt group by outcome',
    );
    expect(rows).toEqual([{ outcome: 'complete', attempts: BRANDS }]);
    // Two messages a brand: its ads, and the end of its scan.
    expect(published).toBe(2 * BRANDS);
    const days = (endedMs - START_MS) / DAY_MS;
    const offBy = (actual: number, forecast = 0): number => Math.abs(actual - forecast) / forecast;
    console.log(
      `${BRANDS} brands: ${world.calls.length} calls in ${days.toFixed(2)} days; forecast ${plan?.callsPerRound} calls in ${plan?.daysPerRound.toFixed(2)} days`,
    );
    expect(offBy(world.calls.length, plan?.callsPerRound)).toBeLessThan(TOLERANCE);
    expect(offBy(days, plan?.daysPerRound)).toBeLessThan(TOLERANCE);
  },
  WAIT_MS,
);
