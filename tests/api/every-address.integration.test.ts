import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation } from '#contracts/observations/index.ts';
import { AUDIENCE_SEGMENTS } from '#contracts/values/audience-segments.ts';
import { ITEM_TYPES, type ItemType } from '#contracts/values/items.ts';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { exportReports } from '#services/worker/reports/report-worker.ts';
import { endpointAt, on } from '../dsl/api.ts';
import { recordCreative } from '../operations/fixtures/creative-events.ts';
import { BRAND_IDS, importDemo, prepareBriefs } from '../operations/fixtures/demo-walk.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { until } from '../stack/wait-until.ts';

/** The replies of every GET endpoint about the demo corpus, whose addresses and ids are all followed. */
const VISITS_MAX = 20_000;
const CONCURRENT = 16;
/** Visits of each endpoint below a record, such as `/v1/ads/{adId}/creatives`. */
const VISITS_BELOW_RECORDS_MAX = 40;
const LOOKUPS_MAX = 60;
/** Proofs of ads, radar items and deliveries, which are heavy and run one at a time. */
const PROOFS_OF_EACH = 2;
const REPORT_WAIT_MS = 30_000;
const PICTURE = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 'picture')]);
const PICTURE_KEY = hash('sha256', PICTURE);
const READS = ENDPOINTS.filter(({ method }) => method === 'GET');

/** Content types of files, by the start of their path. */
const FILES: readonly (readonly [start: string, type: RegExp])[] = [
  ['/v1/media/', /^(?:image|video)\//],
  ['/v1/reports/download/', /^text\/csv/],
  ['/v1/proofs', /^application\/x-ndjson|^text\/html/],
  ['/v1/openapi.json', /^application\/json/],
  ['/docs/guide/', /^text\/markdown/],
  ['/docs/reference/', /^text\/markdown/],
  ['/docs/js/', /^text\/javascript/],
  ['/docs', /^text\/html/],
  ['/llms.txt', /^text\/plain/],
  ['/.well-known/api-catalog', /^application\/linkset\+json/],
];
const PATH_OF_ITEM: Readonly<Record<ItemType, string>> = {
  ad: '/v1/ads',
  brand: '/v1/brands',
  creative: '/v1/creatives',
  creative_record: '/v1/creative-records',
  page: '/v1/pages',
};
/** Path of the record that a field names. */
const PATH_OF_FIELD: Readonly<Record<string, string>> = {
  ad_id: PATH_OF_ITEM.ad,
  brand_id: PATH_OF_ITEM.brand,
  creative_id: PATH_OF_ITEM.creative,
  creative_key: PATH_OF_ITEM.creative_record,
};
/** Fields by which a lookup finds the record. */
const LOOKED_UP: Partial<Record<ItemType, readonly string[]>> = {
  ad: ['id', 'library_url'],
  brand: ['id', 'slug'],
  page: ['page_url'],
};
const QUERY_OF_LIST: Readonly<Record<string, string>> = {
  listRanking: 'country=US&limit=100',
  getBrandBounds: 'figure=active_ads',
  listBrandChanges: 'since=2026-01-01T00:00:00Z',
  getBrandProof: 'figure=active_ads',
  listWorkspaceChanges: 'since=2026-01-01T00:00:00Z&limit=100',
  lookUp: 'q=a',
  listBrandThumbs: `brand_ids=${BRAND_IDS.join(',')}`,
  getBrandNetwork: `brand_id=${BRAND_IDS[0]}`,
  listRadar: 'days=14&limit=100',
  listSignals: 'days=14&limit=100',
};

const withQuery = (path: string, query = ''): string => (query === '' ? path : `${path}?${query}`);

type Fields = Readonly<Record<string, string>>;
type Crawl = ReturnType<typeof openCrawl>;

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let ofWorkspace: string;
const objectStore = openFolderStore(join(tmpdir(), `test-objects-${process.pid}`));

/** Makes brands private and pictures alike, of which the demo has none. */
const varied = (one: Observation): Observation => {
  if (one.type === 'brand.profile') return { ...one, is_public: hash('md5', one.domain) > '4' };
  if (one.type !== 'creative.file' || one.media_kind !== 'image') return one;
  return { ...one, perceptual_hash: one.creative_key.slice(0, 1).padEnd(16, 'a5') };
};

beforeAll(async () => {
  stack = await openApiStack();
  await importDemo(stack, varied);
  app = await stack.api({ requestsPerMinute: 1_000_000 });
  key = await stack.key({ plan: 'business' });
  ofWorkspace = `/v1/workspaces/${key.workspaceId}`;
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Addresses of this service and paths of records that a reply names. Adds malformed addresses to `faults`. */
const namedIn = (value: unknown, field: string, faults: string[]): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((one) => namedIn(one, field.replace(/s$/, ''), faults));
  if (typeof value === 'object' && value !== null) {
    const { id = '', item_type, item_key, subject_type, subject_key, library_url } = value as Fields;
    const path = PATH_OF_ITEM[(item_type ?? subject_type) as ItemType];
    return [
      ...(path === undefined ? [] : [`${path}/${item_key ?? subject_key ?? ''}`]),
      ...(library_url === undefined ? [] : [`${PATH_OF_ITEM.ad}/${id}`]),
      ...(/^(?:mid_)?category$|^parent$/.test(field) ? [`/v1/categories/${id}`] : []),
      ...Object.entries(value).flatMap(([name, one]) => namedIn(one, name, faults)),
    ];
  }
  if (typeof value !== 'string') return [];
  if (value.startsWith(BASE_URL)) return [value];
  if (field.endsWith('url') && !/^https?:\/\/[^/]/.test(value)) faults.push(`${field} ${value}`);
  return PATH_OF_FIELD[field] === undefined ? [] : [`${PATH_OF_FIELD[field]}/${value}`];
};

/** Links of documentation to this service, relative ones too. */
const linksIn = (text: string, page: string): readonly string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)|(?:href|src)"?[=:]"([^"]+)"/g)]
    .map(([, markdown, quoted]) => new URL(markdown ?? quoted ?? '', `${BASE_URL}${page}`).href)
    .filter((link) => link.startsWith(BASE_URL));

const isList = (data: unknown): data is readonly Fields[] => Array.isArray(data);

const openCrawl = () => {
  const queue: string[] = [];
  /** By path, the reply that named it first. */
  const sources = new Map<string, string>();
  const visits = new Map<string, number>();
  const items = new Map<ItemType, string>();
  const faults: string[] = [];
  let lookups = 0;
  const proofs = new Map<string, number>();

  const follow = (address: string, source = 'the start'): void => {
    const path = address.replace(BASE_URL, '').replace(/#.*/, '');
    if (sources.has(path)) return;
    sources.set(path, source);
    queue.push(path);
  };

  const mayProve = (template: string): boolean => {
    const count = (proofs.get(template) ?? 0) + 1;
    proofs.set(template, count);
    return count <= PROOFS_OF_EACH;
  };

  /** Follows what else is read with the same id, and looks the record up. */
  const followRecord = (template: string, record: Fields, source: string): void => {
    const { id = '', creative_key = '' } = record;
    for (const { path, operationId } of READS) {
      if (operationId === 'getAdProof' && path.startsWith(`${template}/`) && !mayProve(template)) continue;
      if (path.startsWith(`${template}/`) && (visits.get(operationId) ?? 0) < VISITS_BELOW_RECORDS_MAX)
        follow(withQuery(path.replace(/\{\w+\}/, id), QUERY_OF_LIST[operationId]), source);
    }
    const type = ITEM_TYPES.find((one) => template.startsWith(`${PATH_OF_ITEM[one]}/{`));
    if (type === undefined) return;
    items.set(type, id || creative_key);
    if (type === 'brand')
      for (const list of ['creatives', 'brand-network']) follow(`/v1/${list}?brand_id=${id}`);
    for (const field of LOOKED_UP[type] ?? []) {
      if ((lookups += 1) <= LOOKUPS_MAX)
        follow(`/v1/lookup?q=${encodeURIComponent(record[field] ?? '')}`, source);
    }
  };

  const readRecords = async (path: string, source: string, template: string): Promise<void> => {
    const { status, data: records, meta } = await on(app).get(path, { key });
    if (status !== 200) return void faults.push(`${path} in ${source} is ${status}`);
    const { pathname, searchParams } = new URL(path, BASE_URL);
    if (meta.cursor !== undefined) {
      searchParams.set('cursor', meta.cursor);
      follow(`${pathname}?${searchParams.toString()}`, source);
    }
    const data = records as Fields | readonly Fields[];
    if (isList(data)) {
      const isProven = READS.some(
        ({ path: one }) => one.includes('{ws}') && one.startsWith(`${template}/{`) && one.endsWith('}/proof'),
      );
      for (const { id } of isProven ? data : [])
        if (mayProve(template)) follow(`${pathname}/${id}/proof`, path);
      if (data.length === 0 && source.includes('/signals')) faults.push(`${path} in ${source} has nothing`);
      const isOfRecords = READS.some((one) => one.path.startsWith(`${template}/{`));
      for (const { id } of isOfRecords ? data : []) {
        if (id !== undefined && endpointAt('GET', `${pathname}/${id}`)) follow(`${pathname}/${id}`, path);
      }
    } else if (template.endsWith('}')) {
      const { id, slug, creative_key } = data;
      if (![id, slug, creative_key].includes(pathname.split('/').at(-1))) faults.push(`${path} is another`);
      followRecord(template, data, path);
    } else if (isList(data['matches']) && data['matches'].length === 0)
      faults.push(`${path} of ${source} has no match`);
    for (const address of namedIn(data, 'data', faults)) follow(address, path);
  };

  const readFile = async (path: string, source: string): Promise<void> => {
    const { statusCode, headers, body } = await app.inject({ method: 'GET', url: path });
    if (statusCode === 301) return follow(String(headers.location), path);
    const contentType = String(headers['content-type']);
    const isExpected = FILES.find(([start]) => path.startsWith(start))?.[1].test(contentType) ?? false;
    if (statusCode !== 200 || !isExpected)
      faults.push(`${path} in ${source} is ${statusCode} ${contentType}`);
    if (!contentType.includes('javascript')) for (const link of linksIn(body, path)) follow(link, path);
  };

  const visit = async (path: string): Promise<void> => {
    const endpoint = endpointAt('GET', path);
    const source = sources.get(path) ?? '';
    if (endpoint === undefined) return readFile(path, source);
    visits.set(endpoint.operationId, (visits.get(endpoint.operationId) ?? 0) + 1);
    return readRecords(path, source, endpoint.path);
  };

  return {
    items,
    faults,
    follow,
    unvisited: () => READS.map(({ operationId }) => operationId).filter((name) => !visits.has(name)),
    run: async (): Promise<void> => {
      while (queue.length > 0) {
        if (sources.size > VISITS_MAX) throw new Error(`more than ${VISITS_MAX} addresses`);
        await Promise.all(queue.splice(0, CONCURRENT).map(visit));
      }
    },
  };
};

/** Follows the lists whose path needs no id. */
const followLists = (crawl: Crawl, isWanted: (path: string) => boolean): void => {
  for (const { path, query, operationId } of READS) {
    const list = path.replace('{ws}', key.workspaceId);
    if (list.includes('{') || !isWanted(path)) continue;
    crawl.follow(withQuery(list, QUERY_OF_LIST[operationId] ?? ('cursor' in query.shape ? 'limit=100' : '')));
  }
};

const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
  const { status, data, error } = await on(app).post(`${ofWorkspace}/${path}`, { key, body });
  expect([path, status >= 200 && status < 300, error]).toEqual([path, true, undefined]);
  return data;
};

/** Stores a picture of an ad, so that its creative has the address of a file of this service. */
const storePicture = async (): Promise<void> => {
  const { data } = await on(app).get(`/v1/brands/${BRAND_IDS[0]}/ads`, { key });
  const [ad] = data as readonly { readonly id: string }[];
  const object_key = mediaKeyOf(PICTURE_KEY);
  await objectStore.write(object_key, Readable.from([PICTURE]));
  const media = { media_kind: 'image', content_type: 'image/png', duration_seconds: null } as const;
  const stored = { ...media, object_key, media_url: null, poster_url: null };
  await stack.projected(await recordCreative(stack, PICTURE_KEY, [ad?.id ?? ''], stored));
};

const writeReport = async (): Promise<void> => {
  const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const { id } = await post('reports', { from: dayBefore(9), to: dayBefore(1) });
  const ending = new AbortController();
  const [clock, log, signal] = [systemClock, silentLog(), ending.signal];
  await using db = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
  const worker = { ...stack, db, objectStore, clock, log, signal, workerId: 'worker', leaseSeconds: 60 };
  const exporting = exportReports(worker);
  await until('report ready', REPORT_WAIT_MS, async () => {
    const { data } = await on(app).get(`${ofWorkspace}/reports/${id}`, { key });
    return (data as { readonly status: string }).status === 'ready';
  });
  ending.abort();
  await exporting;
};

/** Fills each list of the workspace with what the crawl found. */
const fillWorkspace = async ({ items, follow }: Crawl): Promise<void> => {
  for (const brand_id of BRAND_IDS) await post('tracked-brands', { brand_id });
  await post('brand-requests', { domain: 'wanted.com' });
  const collection = await post('collections', { name: 'Found' });
  for (const [item_type, item_key] of items) {
    await post(`collections/${collection.id}/items`, { item_type, item_key });
    await post('saved', { item_type, item_key });
    await post('notes', { subject_type: item_type, subject_key: item_key, body: 'Found.' });
  }
  const rule = { name: 'Launches', trigger: 'new_ads', brand_ids: BRAND_IDS, email: true };
  await post(`alerts/${(await post('alerts', rule)).id}/test`, {});
  await Promise.all([prepareBriefs(stack), writeReport()]);
  follow(`${ofWorkspace}/collections/${collection.id}/items?include=record`);
  for (const id of BRAND_IDS) follow(`${ofWorkspace}/tracked-brands/${id}/signals`);
};

test('every address and id in a reply leads to what it names', async () => {
  await storePicture();
  const crawl = openCrawl();
  for (const path of ['/docs', '/llms.txt', '/.well-known/api-catalog']) crawl.follow(path);
  for (const segment of Object.keys(AUDIENCE_SEGMENTS)) crawl.follow(`/v1/audience/${segment}?limit=100`);
  const needsRecords = ['/v1/page-details', '/v1/creatives'];
  followLists(crawl, (path) => !path.includes('{ws}') && !needsRecords.includes(path));
  await crawl.run();
  expect(crawl.faults).toEqual([]);
  expect([...crawl.items.keys()].toSorted()).toEqual(ITEM_TYPES);

  await fillWorkspace(crawl);
  crawl.follow(`/v1/page-details?ids=${crawl.items.get('page')}`);
  followLists(crawl, (path) => path.includes('{ws}'));
  await crawl.run();
  expect(crawl.faults).toEqual([]);
  expect(crawl.unvisited()).toEqual([]);
}, 300_000);
