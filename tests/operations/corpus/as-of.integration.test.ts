import { metadataOf } from '#tests/dsl/metadata.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream, type ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import { type SiteEvent, siteStream } from '#contracts/events/corpus/site.ts';
import type { Event } from '#contracts/events/event.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { projections } from '#projections/index.ts';
import { resumeProjection } from '#services/ops/projections.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector.ts';
import { on } from '#tests/dsl/api.ts';
import { shopEvents, shopProduct, shopScan, trafficEvent } from '#tests/dsl/site-events.ts';
import { nameOperator } from '#tests/projections/fixtures/network-events.ts';
import { until } from '#tests/stack/wait-until.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { APPAREL_ID, type CorpusBrand, registered, seedBrand } from '../fixtures/corpus.ts';
import { keyOf, recordCreative } from '../fixtures/creative-events.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { openApiStack } from '../fixtures/stack.ts';
import { scanRecorded } from '#tests/dsl/ad-events.ts';

const HOUR_MS = 3_600_000;
const METADATA = metadataOf('as of');
const WAIT_MS = 30_000;

const profiledAt = new Date(Date.now() - 400 * HOUR_MS).toISOString();

const stack = await disposeAfterAll(openApiStack());
const [opened, issued, brands] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha'])]);
const [app, key, alpha] = [opened, issued, brands[0] as CorpusBrand];
await seedBrand(stack.eventStore, registered('never.com', profiledAt));
await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
  key,
  body: { brand_id: alpha.id },
});
await stack.projected(await stack.eventStore.head());

const scanned = (brandId: string, observed_at: string): ScanRecorded =>
  scanRecorded(brandId, observed_at, {
    pages: [{ page_id: '104857600', page_name: 'A page', baseline: false }],
    totals: { seen: 3, active: 3, total: 4 },
  });

const siteScanned = (brandId: string, observed_at: string): readonly SiteEvent[] => {
  const sighting = {
    brand_id: brandId,
    domain: 'alpha.com',
    scan_id: derivedId('site scan', `${brandId} ${observed_at}`),
    observed_at,
  };
  const tool = {
    tool_id: derivedId('tool', 'one'),
    slug: 'one',
    name: 'One',
    category: 'Analytics',
    website_url: null,
    split_testing: true,
  };
  return [
    { type: 'ToolsDetected', data: { ...sighting, novelty: 'news', tools: [tool] } },
    {
      type: 'SiteScanRecorded',
      data: { ...sighting, collector: 'tests', complete: true, tools: 1, read: [] },
    },
  ];
};

const append = async (stream: string, events: readonly Event[], id: string): Promise<bigint> => {
  const { revision } = await stack.eventStore.load(stream, { initial: null, evolve: (state: null) => state });
  const appended = await stack.eventStore.append(stream, revision, events, METADATA, id);
  return appended.position;
};

const appendScans = async (brandId: string, observedAt: string): Promise<bigint> => {
  await append(adLibraryStream(brandId), [scanned(brandId, observedAt)], `scan ${observedAt}`);
  return append(siteStream('alpha.com'), siteScanned(brandId, observedAt), `site ${observedAt}`);
};

/** Returns once the owner of the projection has stopped. */
const pause = async (name: string): Promise<void> => {
  await stack.pool.query(
    `with paused as (update projector.projection set pause_at = position where name = $1 returning 1)
     select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1), (select count(*) from paused)`,
    [name],
  );
  await until(`${name} is paused`, WAIT_MS, async () => {
    const { rows } = await stack.pool.query(
      'select from projector.projection where name = $1 and is_paused',
      [name],
    );
    return rows.length === 1;
  });
};

const REPLIES: readonly (readonly [path: string, readsFrom: readonly string[]])[] = [
  ['/v1/brands/alpha', ['brands', 'freshness']],
  ['/v1/brands/alpha/breakdown', ['brands']],
  ['/v1/brands/alpha/daily-activity', ['daily-activity']],
  ['/v1/brands/alpha/velocity', ['velocity']],
  ['/v1/brands/alpha/ads', ['ads']],
  ['/v1/ads?status=missing', ['ads']],
  ['/v1/brands/alpha/creative-library', ['ads', 'creatives']],
  ['/v1/brands/alpha/social-pages', ['social-pages']],
  ['/v1/brands/alpha/leakage', ['social-pages']],
  ['/v1/brands/alpha/copy-reuse', ['social-pages']],
  ['/v1/brands/alpha/partnerships', ['partnerships']],
  ['/v1/brand-network?brand_id=alpha', ['social-pages']],
  ['/v1/hubs', ['social-pages']],
  ['/v1/rankings/risers', ['rankings', 'brands']],
  [`/v1/categories/${APPAREL_ID}`, ['categories']],
  [`/v1/categories/${APPAREL_ID}/stats`, ['categories', 'pages', 'category-tools']],
  ['/v1/categories', ['categories']],
  ['/v1/brands', ['brands']],
  ['/v1/system/freshness', ['brands']],
  ['/v1/tools', ['tools']],
  ['/v1/tools/one', ['tools']],
  ['/v1/brands/alpha/tech-stack', ['tools']],
  ['/v1/brands/alpha/split-tests', ['split-tests']],
  ['/v1/split-test-census', ['split-tests']],
  ['/v1/workspaces/{ws}/tracked-brands', ['brands', 'freshness']],
  ['/v1/workspaces/{ws}/tracked-brands/freshness', ['freshness']],
  ['/v1/workspaces/{ws}/radar', ['radar']],
  ['/v1/workspaces/{ws}/radar/signals', ['signals']],
];
const READ_MODELS = [...new Set(REPLIES.flatMap(([, readsFrom]) => readsFrom))];

describe('meta.as_of of a read model that is behind', () => {
  let [previous, newest] = ['', ''];

  beforeAll(async () => {
    newest = new Date(Date.now() - 5 * HOUR_MS).toISOString();
    await stack.projected(await appendScans(alpha.id, newest));
  });

  test.each(READ_MODELS.map((name, index) => ({ name, index })))(
    'names the last scan that $name has applied, and its age, while the others go on',
    async ({ name, index }) => {
      await pause(name);
      try {
        [previous, newest] = [newest, new Date(Date.now() - (4 - index / 10) * HOUR_MS).toISOString()];
        const position = await appendScans(alpha.id, newest);
        const others = projections.map((one) => one.name).filter((one) => one !== name);
        expect(await stack.projectionWait.wait(others, position, WAIT_MS)).toBe(true);
        for (const [path, readsFrom] of REPLIES) {
          const { meta } = await on(app).get(path.replace('{ws}', key.workspaceId), { key });
          const expected = readsFrom.includes(name) ? previous : newest;
          expect([path, meta.as_of]).toEqual([path, expected]);
          const hours = (Date.now() - Date.parse(expected)) / HOUR_MS;
          expect(Math.abs((meta as unknown as { lag_hours: number }).lag_hours - hours)).toBeLessThan(0.05);
        }
      } finally {
        await resumeProjection(stack.pool, name);
      }
      await stack.projected(await stack.eventStore.head());
    },
    WAIT_MS,
  );
});

describe('meta.as_of of an empty list', () => {
  const isOld = (as_of: string): boolean => Date.now() - Date.parse(as_of) > HOUR_MS;

  test.each([
    '/v1/brands?q=nobody-has-this-name',
    `/v1/brands/sitemap?category_id=${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`,
    '/v1/ads?q=nothing-says-this',
    '/v1/pages?url=nothing-has-this',
    `/v1/categories?parent_id=${APPAREL_ID}&slug=nothing`,
    '/v1/hubs',
    '/v1/rankings?country=ZZ',
    '/v1/rankings/risers?country=ZZ',
    '/v1/audience/gen-z',
  ])('is the last observation of the corpus: %s', async (path) => {
    const { data, meta } = await on(app).get(path, { key });
    expect(data).toEqual([]);
    expect(isOld(meta.as_of)).toBe(true);
  });

  const neverId = brandIdOf('never.com');
  const bareId = brandIdOf('bare.com');
  const scannedAt = new Date(Date.now() - 300 * HOUR_MS).toISOString();

  beforeAll(async () => {
    await seedBrand(stack.eventStore, registered('bare.com', profiledAt));
    await append(adLibraryStream(bareId), [scanned(bareId, scannedAt)], 'scan of bare');
    await recordCreative(stack, keyOf(1), alpha.adIds.slice(0, 1));
    await seedEvents(stack, [
      trafficEvent('alpha.com', '2026-05-01', { monthly_visits: 1_000 }),
      ...shopEvents({
        scan: shopScan('alpha.com', '2026-05-04T08:00Z'),
        products: [shopProduct(1, '20.00')],
      }),
      nameOperator(derivedId('operator', 'of others')),
    ]);
  });

  const ofAds = [
    'daily-activity',
    'velocity',
    'ads',
    'partnerships',
    'copy-reuse',
    'social-pages',
    'leakage',
  ];
  const ofSites = [
    'trajectory',
    'demographics',
    'similar',
    'tech-stack',
    'store',
    'split-tests',
    'operators',
  ];
  test.each([...ofAds, ...ofSites])(
    'of a brand that was never scanned is the last observation of the brand: %s',
    async (list) => {
      const { meta } = await on(app).get(`/v1/brands/never/${list}`, { key });
      expect(meta.as_of).toBe(profiledAt);
    },
  );

  test.each(['/v1/ads?', '/v1/pages?', '/v1/creatives?', '/v1/creative-records?', '/v1/creative-coverage?'])(
    'of a filter by a brand that was never scanned is the last observation of the brand: %s',
    async (path) => {
      const { meta } = await on(app).get(`${path}brand_id=${neverId}`, { key });
      expect(meta.as_of).toBe(profiledAt);
    },
  );

  test('of pages of a brand without any is the last scan of the brand', async () => {
    const { data, meta } = await on(app).get(`/v1/pages?brand_id=${bareId}`, { key });
    expect([data, meta.as_of]).toEqual([[], scannedAt]);
  });

  test('of a radar without tracked brands is the last scan of the corpus', async () => {
    const other = await stack.key();
    const { data, meta } = await on(app).get(`/v1/workspaces/${other.workspaceId}/radar`, { key: other });
    expect(data).toEqual([]);
    expect(isOld(meta.as_of)).toBe(true);
  });
});
