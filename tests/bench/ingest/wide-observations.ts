import type { AdLibraryScanChunk, AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { CHUNK_ADS_MAX, type ObservedAd, SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import { type Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import {
  type ObservedProduct,
  STOREFRONT_PAGE_PRODUCTS_MAX,
  STOREFRONT_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import type { SocialPageLink } from '#contracts/observations/social-page-link.ts';
import { chunk } from 'es-toolkit/array/chunk';
import { scanIdOf } from '#domain/ids.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { type BenchContext, scaled } from '../runner/bench.ts';
import type { FigureName } from '../figures.ts';
import { peakMemoryMib, sumCpu, watchCpu } from '../runner/cpu-time.ts';
import { type BenchServers, startServers } from '../runner/servers.ts';

const FIRST_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const PAGES = [250, 500, 1_000, 2_000].map((pages) => scaled(pages));
const LINKS = [1_000, 4_000].map((links) => scaled(links));
const TOOLS = [125, 250, 500].map((tools) => scaled(tools));
const PRODUCTS = [STOREFRONT_PRODUCTS_MAX / 8, STOREFRONT_PRODUCTS_MAX / 2, STOREFRONT_PRODUCTS_MAX].map(
  (products) => scaled(products),
);
const VARIANTS_PER_PRODUCT = 3;
const WARM_UP_LINKS = scaled(200);
const WIDEST_PAGES = scaled(SCAN_PAGES_MAX);

const timeOf = (day: number): string => new Date(FIRST_MS + day * DAY_MS).toISOString();

const adOf = (domain: string, pageId: string, number: number): ObservedAd => ({
  ad_id: String(900_000_000_000_000 + number),
  page_id: pageId,
  page_name: 'A page',
  is_active: true,
  started_on: '2025-12-01',
  stopped_on: null,
  body: `Warm boots for cold days, number ${number}.`,
  title: 'Boots for winter',
  link_description: null,
  caption: domain,
  cta_type: 'SHOP_NOW',
  cta_text: 'Shop now',
  link_url: `https://${domain}/boots-${number}`,
  format: 'image',
  platforms: ['facebook'],
  languages: ['en'],
  media: [],
  cards: [],
  versions: [],
});

/** `adPages` limits the pages with an ad. */
export const scanOfPages = (
  domain: string,
  day: number,
  pages: readonly { readonly page_id: string; readonly page_name: string }[],
  adPages = pages.length,
): readonly [...AdLibraryScanChunk[], AdLibraryScanEnd] => {
  const key = {
    scan_id: scanIdOf(domain, timeOf(day), 'bench'),
    brand_domain: domain,
    scanned_at: timeOf(day),
  };
  const ads = pages
    .slice(0, adPages)
    .map(({ page_id }, index) => adOf(domain, page_id, Number(page_id) + index));
  const chunks = chunk(ads, CHUNK_ADS_MAX).map((adsOfChunk, index) => ({
    type: 'ad_library.scan' as const,
    ...key,
    chunk: index,
    ads: adsOfChunk,
  }));
  const coverage = { pages: [...pages], countries: ['US'], complete: true, collector: 'bench' };
  return [...chunks, { type: 'ad_library.scan_end', ...key, chunks: chunks.length, coverage }];
};

/** Creates pages whose ids do not occur in other lists. */
export const pagesNamed = (list: number, count: number, nameLength: number) =>
  Array.from({ length: count }, (_, index) => ({
    page_id: String(10_000_000_000_000_000_000n + BigInt(list) * 1_000_000n + BigInt(index)),
    page_name: 'P'.repeat(nameLength),
  }));

export const link = (brand_domain: string, page_id: string, number: number): SocialPageLink => ({
  type: 'social_page.link',
  brand_domain,
  page_id,
  page_name: 'A page',
  observed_at: new Date(FIRST_MS + number * 60_000).toISOString(),
  role: 'OFFICIAL',
  confidence: 0.9,
  linked: true,
});

export const siteScan = (domain: string, day: number, tools: number): SiteScan => ({
  type: 'site.scan',
  domain,
  observed_at: timeOf(day),
  collector: 'bench',
  complete: true,
  tools: Array.from({ length: tools }, (_, index) => ({
    slug: `tool-${index}`,
    name: `Tool ${index}`,
    category: 'Analytics',
    website_url: `https://tool-${index}.example/`,
  })),
  split_test_tools: [],
  split_tests: [],
});

/** Yields page by page, so that memory is that of the intake. Every tenth price changes daily. */
export const catalogueScans = function* (
  domain: string,
  products: number,
): Generator<StorefrontScanPage | StorefrontScanEnd> {
  for (const day of [0, 1, 2]) {
    const key = { scan_id: scanIdOf(domain, timeOf(day), 'bench'), domain, scanned_at: timeOf(day) };
    const pages = Math.ceil(products / STOREFRONT_PAGE_PRODUCTS_MAX);
    for (let page = 0; page < pages; page += 1) {
      const first = page * STOREFRONT_PAGE_PRODUCTS_MAX;
      const count = Math.min(STOREFRONT_PAGE_PRODUCTS_MAX, products - first);
      const shown = Array.from({ length: count }, (_, index) => productOf(first + index, day));
      yield { type: 'storefront.scan', ...key, page, products: shown };
    }
    yield {
      type: 'storefront.scan_end',
      ...key,
      pages,
      complete: true,
      currency: 'USD',
      collector: 'bench',
    };
  }
};

const productOf = (number: number, day: number): ObservedProduct => ({
  id: String(7_000_000_000 + number),
  handle: `boots-${number}`,
  title: `Boots number ${number}`,
  product_type: 'Boots',
  vendor: 'A vendor',
  published_at: timeOf(0),
  image_url: `https://cdn.example/boots-${number}.jpg`,
  variants: Array.from({ length: VARIANTS_PER_PRODUCT }, (_, size) => ({
    id: String(8_000_000_000 + number * VARIANTS_PER_PRODUCT + size),
    title: `Size ${size}`,
    sku: `B-${number}-${size}`,
    price: number % 10 === 0 ? `${50 + day}.00` : '59.90',
    compare_at_price: null,
    available: true,
  })),
});

type Case = { readonly count: number; readonly observations: Iterable<Observation> };
type Kind = { readonly name: FigureName<'wide-observations'>; readonly cases: readonly Case[] };

const kinds = (): readonly Kind[] => [
  {
    name: 'first scan of pages',
    cases: PAGES.map((count) => ({
      count,
      observations: scanOfPages(`pages${count}.example`, 0, pagesNamed(count, count, 20)),
    })),
  },
  {
    name: 'second scan of pages',
    cases: PAGES.map((count) => ({
      count,
      observations: scanOfPages(`pages${count}.example`, 1, pagesNamed(count, count, 20)),
    })),
  },
  {
    name: 'links of one page',
    cases: LINKS.map((count) => ({
      count,
      observations: Array.from({ length: count }, (_, number) =>
        link(`linked${count}-${number}.example`, String(700_000_000 + count), number),
      ),
    })),
  },
  {
    name: 'links of one brand',
    cases: LINKS.map((count) => ({
      count,
      observations: Array.from({ length: count }, (_, number) =>
        link(`brand${count}.example`, String(800_000_000 + count * 10_000 + number), number),
      ),
    })),
  },
  {
    name: 'tools of a site',
    cases: TOOLS.map((count) => ({
      count,
      observations: [0, 1, 2].map((day) => siteScan(`tools${count}.example`, day, count)),
    })),
  },
  {
    name: 'products of a shop',
    cases: PRODUCTS.map((count) => ({
      count,
      observations: catalogueScans(`shop${count}.example`, count),
    })),
  },
];

/** The ceiling is the cost of a part of the smallest case. */
const measureKind = async (
  context: BenchContext<'wide-observations'>,
  servers: BenchServers,
  intake: Intake,
  { name, cases }: Kind,
): Promise<void> => {
  const costs: number[] = [];
  const listed: string[] = [];
  for (const { count, observations } of cases) {
    const startMs = performance.now();
    // CPU time of this process, the event store and PostgreSQL. Other load does not change it.
    const cpuSince = await watchCpu({
      intake: process.pid,
      'event store': servers.eventStore.pid,
      Postgres: servers.postmasterPid,
    });
    for (const observation of observations) await intake.submit(observation);
    const cost = sumCpu(await cpuSince()) / count;
    const seconds = (performance.now() - startMs) / 1_000;
    costs.push(cost);
    listed.push(`${count}: ${seconds.toFixed(2)} s, ${cost.toFixed(2)} ms of CPU each`);
  }
  context.print(`  ${name}: ${listed.join('; ')}`);
  const [smallest = 0, largest = 0] = [costs[0], costs.at(-1)];
  context.record(name, largest, smallest);
};

/** Compares the CPU time of a part, then records the widest scan that one message can hold. */
export const run = async (context: BenchContext<'wide-observations'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const intake = resources.use(
    await openIntake({ databaseUrl: servers.databaseUrl, eventStoreUrl: servers.eventStore.url }),
  );
  // Not measured: the first observations open connections, and their code is not compiled yet.
  for (let number = 0; number < WARM_UP_LINKS; number += 1)
    await intake.submit(link(`warm-up-${number}.example`, '900000001', number));
  for (const kind of kinds()) {
    await measureKind(context, servers, intake, kind);
    const [own, store] = [await peakMemoryMib(process.pid), await peakMemoryMib(servers.eventStore.pid)];
    context.print(`    peak memory so far: ${own.toFixed(0)} MiB, event store ${store.toFixed(0)} MiB`);
  }
  const widest = scanOfPages('widest.example', 0, pagesNamed(9, WIDEST_PAGES, 35), 1);
  const end = widest.at(-1) as AdLibraryScanEnd;
  const bytes = Buffer.byteLength(JSON.stringify(end));
  if (bytes > OBSERVATION_MAX_BYTES) throw new Error(`The end of the scan has ${bytes} bytes.`);
  const startMs = performance.now();
  for (const part of widest) await intake.submit(part);
  const recorded = (performance.now() - startMs) / 1000;
  context.print(`  a scan end of ${bytes} bytes with ${WIDEST_PAGES} pages: ${recorded.toFixed(2)} s`);
};
