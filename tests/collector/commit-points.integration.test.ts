import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation } from '#contracts/observations/index.ts';
import { answerSite } from '#tests/world/site-world.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { type Egress, openEgress } from '#platform/egress/http-client.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import { silentLog } from '#platform/logger.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { pages } from '#projections/pages/project.ts';
import { createLandingPagesReader } from '#services/collector/read-landing-pages.ts';
import { createHostStore, recordWish } from '#services/collector/schedule/target-store.ts';
import { runTargets } from '#services/collector/schedule/run-targets.ts';
import type { SourceReader } from '#services/collector/schedule/source-reader.ts';
import { createImprintStore } from '#services/collector/site/imprint-store.ts';
import { createSiteReader } from '#services/collector/site/read-site.ts';
import { createToolDetector, type ToolDetector } from '#services/collector/site/tools/tool-detector.ts';
import { storefrontReader } from '#services/collector/storefront/read-storefront.ts';
import { createTables } from '#application/read-models/schema.ts';
import { type CollectorStack, openCollectorStack, until } from './collector-stack.ts';
import { DyingProcess } from './dying-process.ts';
import { products, shopifyShop } from './played-shop.ts';

const PRODUCTS = 260;
const LANDING_PAGES = ['a', 'b'];
const HTML = { 'content-type': 'text/html' };
/** With fewer counted points the test does not see the commits. */
const POINTS_MIN = 8;
/** Ends the loop; readings have far fewer points. */
const POINTS_MAX = 200;

const resources = new AsyncDisposableStack();
let stack: CollectorStack;
let egress: Egress;
let detector: ToolDetector;
beforeAll(async () => {
  stack = resources.use(await openCollectorStack());
  egress = resources.use(openEgress({ allowLoopback: true }));
  detector = resources.use(createToolDetector({ log: silentLog() }));
  await inTransaction(stack.database, (client) => createTables(client, pages, 'pages'));
});
afterAll(() => resources.disposeAsync());

const clock = { now: () => new Date(stack.nowMs) };

/** Reads due targets of a source until the process dies, or the target has an attempt. */
const run = async (
  { source, reader }: Source,
  domain: string,
  dying: DyingProcess,
  messages: Map<string, string>,
): Promise<void> => {
  const database = dying.database(stack.database);
  await using db = openReadDatabase(stack.databaseUrl);
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
      readers: { [source]: reader({ database, db }) },
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

type Stores = Parameters<typeof createLandingPagesReader>[0];
type Source = {
  readonly source: string;
  readonly reader: (stores: Stores) => SourceReader;
  readonly play: (domain: string) => Promise<void>;
  readonly check: (domain: string) => Promise<void>;
};

/** A message that is published twice with the same bytes counts once. */
const published = async (
  isAbout: (one: Observation) => boolean,
  show: (one: Observation) => string,
): Promise<readonly string[]> => {
  const texts = (await stack.observations()).filter(isAbout).map((one) => JSON.stringify(one));
  return [...new Set(texts)].map((text) => show(JSON.parse(text) as Observation)).toSorted();
};

const playLandingPages = async (domain: string): Promise<void> => {
  const brandId = randomUUID();
  await stack.database.query('insert into pages.brand (brand_id, domain) values ($1, $2)', [brandId, domain]);
  for (const path of LANDING_PAGES) {
    const id = randomUUID();
    await stack.database.query('insert into pages.page (landing_page_id, page_url) values ($1, $2)', [
      id,
      `https://land.example/${domain}/products/${path}`,
    ]);
    await stack.database.query(
      'insert into pages.page_brand (landing_page_id, brand_id, active_ads) values ($1, $2, 1)',
      [id, brandId],
    );
  }
  stack.played.sites.set('land.example', (path) =>
    path === '/robots.txt'
      ? undefined
      : { headers: HTML, body: '<title>Shoe</title><button>Add to cart</button>' },
  );
};

const SOURCES: readonly Source[] = [
  {
    source: 'storefront',
    reader: () => storefrontReader,
    play: async (domain) => void stack.played.sites.set(domain, shopifyShop(products(PRODUCTS)).site),
    check: async (domain) => {
      const scans = await stack.scans(domain);
      expect(
        scans.map(({ end }) => end.complete),
        domain,
      ).toEqual([true]);
      expect(new Set(scans[0]?.products.map(({ id }) => id)).size, domain).toBe(PRODUCTS);
    },
  },
  {
    source: 'site',
    reader: ({ database }) => createSiteReader({ detector, imprints: createImprintStore(database) }),
    play: async (domain) => {
      const name = domain.replace('.example', '');
      const site = {
        domain,
        name,
        description: 'Things',
        company: `${name} GmbH`,
        country: 'DE',
        scripts: ['https://cdn.shopify.com/s/a.js'],
        products: ['shoe'],
      };
      stack.played.sites.set(domain, (path) => answerSite(site, { path }) ?? undefined);
    },
    check: async (domain) => {
      const isAbout = (one: Observation): boolean =>
        ('domain' in one && one.domain === domain) || ('domains' in one && one.domains.includes(domain));
      const types = await published(isAbout, ({ type }) => type);
      expect(types, domain).toEqual(['brand.profile', 'operator.record', 'site.scan']);
    },
  },
  {
    source: 'landing_pages',
    reader: createLandingPagesReader,
    play: playLandingPages,
    check: async (domain) => {
      const isAbout = (one: Observation): boolean =>
        'page_url' in one && one.page_url.includes(`/${domain}/`);
      const shown = await published(
        isAbout,
        (one) => `${one.type} ${'page_url' in one ? one.page_url.at(-1) : ''}`,
      );
      expect(shown, domain).toEqual(
        ['landing_page.classify', 'landing_page.scrape'].flatMap((type) =>
          LANDING_PAGES.map((path) => `${type} ${path}`),
        ),
      );
    },
  },
];

test.each(SOURCES)(
  'a collector of the source $source that is killed at any commit leaves what the next one publishes once, with the same bytes',
  async (of) => {
    const { source } = of;
    let points = 0;
    for (; points < POINTS_MAX; points += 1) {
      const domain = `${source.replace('_', '-')}-${points + 1}.example`;
      const messages = new Map<string, string>();
      await of.play(domain);
      await recordWish(stack.database, { source, domain, cadence: 'daily', at: clock.now(), isUrgent: true });
      const dying = new DyingProcess(points + 1);
      await run(of, domain, dying, messages);
      if (dying.isDead) {
        // The lease of a killed process expires within a minute. The next one starts at another time.
        stack.nowMs += 60_000;
        await stack.database.query('update collecting.target set lease_until = null where domain = $1', [
          domain,
        ]);
        await run(of, domain, new DyingProcess(Number.POSITIVE_INFINITY), messages);
      }
      await of.check(domain);
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
  },
);
