import type { FastifyInstance } from 'fastify';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { buildWorld, busiestBrands } from '#deploy/local/demo/world/world.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { silentLog } from '#platform/logger.ts';
import { inTransaction, openReadDatabase } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { prepareDueBriefs } from '#services/worker/weekly-briefs.ts';
import { on, type Reply } from '#tests/dsl/api.ts';
import { lineOf, SPECIFIED } from './specification.ts';
import type { ApiStack, Key } from './stack.ts';

/** How the specification's table is walked on a small demo corpus. */
const DAY_MS = 86_400_000;
/** A brief is due at six on the Monday after its week. */
const UNTIL_BRIEF_MS = 8 * DAY_MS;
/** Until today, so that what is asked for "the last days" has something to find. */
const CORPUS = {
  seed: 1,
  brands: 24,
  ads: 700,
  days: 14,
  until: new Date().toISOString().slice(0, 10),
} as const;
/** So many brands are asked, until one of them has what is asked for. */
const BRANDS_ASKED = 16;
const BRANDS = busiestBrands(buildWorld(CORPUS), BRANDS_ASKED);
export const BRAND_IDS = BRANDS.map(({ domain }) => brandIdOf(domain));

/** Fields in which there must be something, where an answer with an id or a total of zero would say nothing. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/system/freshness': ['ads_total', 'brands_with_usable_data', 'coverage'],
  'GET /v1/brands': ['active_ads', 'category', 'mid_category'],
  'GET /v1/brands/{brandId}': ['active_ads', 'formats', 'top_countries', 'avg_ad_lifespan_days'],
  'GET /v1/brands/{brandId}/velocity': ['active_ads', 'reliable_days'],
  'GET /v1/brands/{brandId}/breakdown': ['formats'],
  'GET /v1/brands/{brandId}/similar': ['affinity', 'brand'],
  'GET /v1/brands/{brandId}/trajectory': ['monthly_visits', 'global_ranking'],
  'GET /v1/brands/{brandId}/demographics': ['female', 'age_25_34'],
  'GET /v1/brands/{brandId}/social-pages': ['active_ads', 'followers'],
  'GET /v1/brands/{brandId}/leakage': ['third_party_ads', 'largest_third_party_pages'],
  'GET /v1/brands/{brandId}/copy-reuse': ['foreign_ads', 'largest_foreign_pages'],
  'GET /v1/brands/{brandId}/partnerships': ['creator', 'ads'],
  'GET /v1/brands/{brandId}/creative-library': ['longest_running', 'newest', 'totals'],
  'GET /v1/brand-thumbs': ['thumbs'],
  'GET /v1/brands/{brandId}/split-tests': ['tools', 'tests', 'category_profile'],
  'GET /v1/brands/{brandId}/store': ['latest_scan', 'products', 'weeks', 'changes'],
  'GET /v1/brand-network': ['brands', 'links'],
  'GET /v1/categories/{categoryId}': ['totals', 'children'],
  'GET /v1/categories': ['totals'],
  'GET /v1/categories/{categoryId}/stats': [
    'brands',
    'landing_urls',
    'monthly_visits',
    'top_page_types',
    'top_tools',
  ],
  'GET /v1/creative-coverage': ['measured_files', 'described_files', 'fields'],
  'GET /v1/pages': ['page_type', 'total_ads'],
  'GET /v1/operators/{operatorId}': ['brands', 'domain_associations'],
  'GET /v1/hubs': ['roster', 'active_ads'],
  'GET /v1/tools': ['brands'],
  'GET /v1/tools/{toolSlug}': ['brands', 'adoption_by_category', 'common_combinations', 'traffic_split'],
  'GET /v1/split-test-census': ['brands_installed', 'brands_read', 'brands_running'],
  'GET /v1/workspaces/{ws}/alert-deliveries': ['attempts'],
  'POST /v1/workspaces/{ws}/alerts': ['webhook_secret'],
  'POST /v1/workspaces/{ws}/alerts/{alertId}/test': ['deliveries'],
  'GET /v1/workspaces/{ws}/briefs': ['brands'],
  'GET /v1/workspaces/{ws}/briefs/{briefId}': ['changes_by_brand'],
  'POST /v1/workspaces/{ws}/api-keys': ['api_key'],
  'POST /v1/workspaces/{ws}/api-keys/{keyId}/rotate': ['api_key', 'replaces'],
  'POST /v1/workspaces/{ws}/api-keys/revoke-unused': ['revoked'],
  'GET /v1/workspaces/{ws}/collections': ['items'],
};

type Asked = {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
};
type Item = Readonly<Record<string, never>>;

const says = (value: unknown): boolean => {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(says);
  return value !== null && value !== 0 && value !== '' && value !== false;
};

/** What an answer lacks: an item of a list, or a field that says something, of a list in any item. */
export const missingIn = (line: string, data: unknown): readonly string[] => {
  if (data === undefined) return ['an answer'];
  if (Array.isArray(data) && data.length === 0) return ['an item'];
  const fields = SHOWN[line] ?? (line.startsWith('DELETE') ? ['removed'] : []);
  const items = (Array.isArray(data) ? data : [data]) as readonly Item[];
  return fields.filter((field) => !items.some((item) => says(item[field])));
};

/** The demo corpus from observations to read models, with the list that is rewritten nightly. */
export const feedDemo = async (stack: ApiStack): Promise<void> => {
  const { DATABASE_URL: databaseUrl = '', EVENT_STORE_URL: eventStoreUrl = '' } = stack.environment;
  await using intake = await openIntake({ databaseUrl, eventStoreUrl });
  for (const observation of demoObservations(CORPUS)) await intake.submit(observation);
  await stack.projected(await stack.eventStore.head());
  await inTransaction(stack.pool, (client) => rewriteNewAdvertisers(client));
};

/** The week's briefs, as the worker prepares them when the week is over. */
export const prepareBriefs = async (stack: ApiStack): Promise<void> => {
  await using db = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
  const clock = { now: () => new Date(Date.now() + UNTIL_BRIEF_MS) };
  await prepareDueBriefs({ ...stack, db, clock, log: silentLog() }, new AbortController().signal);
  await stack.projected(await stack.eventStore.head());
};

export type Walk = {
  readonly answers: ReadonlyMap<string, Reply>;
  /** Asks one endpoint by its line, and answers its data. */
  readonly ask: (line: string, asked?: Asked) => Promise<never>;
};

/** Keeps of each endpoint the first answer that lacks nothing. */
export const openWalk = (app: FastifyInstance, key: Key, later: FastifyInstance): Walk => {
  const answers = new Map<string, Reply>();
  return {
    answers,
    ask: async (line, { ids = {}, query = '', body } = {}) => {
      const [method = '', path = ''] = line.split(' ');
      const named: Asked['ids'] = { ws: key.workspaceId, ...ids };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(named[name] ?? ''));
      const reply = await on(path.endsWith('/revoke-unused') ? later : app).send(method, url + query, {
        key,
        ...(body ? { body } : {}),
      });
      const before = answers.get(line);
      if (before === undefined || missingIn(line, before.data).length > 0) answers.set(line, reply);
      return reply.data;
    },
  };
};

const READS = SPECIFIED.filter(({ method, path }) => method === 'GET' && !path.includes('{ws}')).map(lineOf);

/** Every read of the corpus: of brands, those that have most to show; of other things, the first that is listed. */
export const walkCorpus = async ({ answers, ask }: Walk): Promise<void> => {
  const firstOf = async (line: string, query = ''): Promise<Item> =>
    ((await ask(line, { query })) as readonly Item[])[0] ?? {};
  const ad = await firstOf('GET /v1/creatives', `?brand_id=${await brandWithFiles(ask)}`);
  const page = await firstOf('GET /v1/pages');
  const tool = await firstOf('GET /v1/tools');
  const operator = await firstOf('GET /v1/operators');
  const record = await firstOf('GET /v1/creative-records');
  const ids = {
    adId: ad['ad_id'] ?? '',
    creativeId: ad['id'] ?? '',
    creativeKey: record['creative_key'] ?? '',
    pageId: page['id'] ?? '',
    operatorId: operator['id'] ?? '',
    toolSlug: tool['slug'] ?? '',
    segment: 'majority-female',
    categoryId: categoryIdOf([BRANDS[0]?.categoryPath[0] ?? '']),
  };
  const queries: Readonly<Record<string, string>> = {
    'GET /v1/rankings': '?country=US',
    'GET /v1/page-details': `?ids=${ids.pageId}`,
    'GET /v1/brand-thumbs': `?brand_ids=${BRAND_IDS.join(',')}`,
    'GET /v1/rankings/new-advertisers': '?days=7',
  };
  for (const brandId of BRAND_IDS) await ask('GET /v1/brand-network', { query: `?brand_id=${brandId}` });
  for (const line of READS) {
    if (answers.has(line)) continue;
    const candidates = line.includes('{brandId}') ? BRAND_IDS : [''];
    for (const brandId of candidates) {
      await ask(line, { ids: { ...ids, brandId }, query: queries[line] ?? '' });
      if (missingIn(line, answers.get(line)?.data).length === 0) break;
    }
  }
};

const brandWithFiles = async (ask: Walk['ask']): Promise<string> => {
  const thumbs: readonly { brand_id: string; thumbs: readonly object[] }[] = await ask(
    'GET /v1/brand-thumbs',
    {
      query: `?brand_ids=${BRAND_IDS.join(',')}`,
    },
  );
  return thumbs.find((one) => one.thumbs.length > 0)?.brand_id ?? '';
};
