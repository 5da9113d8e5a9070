import { metadataOf } from '#tests/dsl/metadata.ts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { Event } from '#contracts/events/event.ts';
import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { PAGE_ID } from '#operations/pages.ts';
import { OPERATOR_ID } from '#operations/endpoint/examples.ts';
import { silentLog } from '#platform/logger.ts';
import { projections } from '#projections/index.ts';
import { sampleProjections } from '#services/projector/control/stall-detector.ts';
import { on } from '#tests/dsl/api.ts';
import { siteEvents, siteScan, siteTool, trafficEvent } from '#tests/dsl/site-events.ts';
import { colleague } from '#tests/operations/fixtures/boards.ts';
import { recordBrief } from '#tests/operations/fixtures/brief-events.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { creativeOf, keyOf, recordCreative } from '#tests/operations/fixtures/creative-events.ts';
import { seedEvents } from '#tests/operations/fixtures/site-corpus.ts';
import { type ApiStack, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { nameOperator } from '#tests/projections/fixtures/network-events.ts';
import { scanRecorded } from '#tests/dsl/ad-events.ts';
import { until } from '#tests/stack/wait-until.ts';

/** All read models are paused while the log goes on. */

const WAIT_MS = 30_000;
const READS = ENDPOINTS.filter(({ method }) => method === 'GET');
const METADATA = metadataOf('behind');

let stack: ApiStack;
let key: Key;
let alpha: CorpusBrand;
let beta: CorpusBrand;
let ids: Readonly<Record<string, string>>;
let reader: FastifyInstance;
/** Time after which no read model has applied an event. */
let missedSince: string;

type Written = { readonly id: string; readonly key_id: string };

/** When the first event was recorded that each read model misses, in milliseconds. */
const missedAt = new Map<string, number>();

const readMissed = async (after: bigint): Promise<void> => {
  const client = EventStoreDBClient.connectionString(stack.environment['EVENT_STORE_URL'] ?? '');
  for await (const { event } of client.readAll({ fromPosition: { commit: after, prepare: after } })) {
    if (event === undefined || event.position.commit <= after) continue;
    for (const { name, prefixes } of projections) {
      if (missedAt.has(name) || !prefixes.some((prefix) => event.streamId.startsWith(prefix))) continue;
      missedAt.set(name, event.created.getTime());
    }
  }
  await client.dispose();
};

const workspacePath = (rest: string): string => `/v1/workspaces/${key.workspaceId}/${rest}`;
const post = async (app: FastifyInstance, rest: string, body: unknown): Promise<Written> => {
  const { status, data } = await on(app).post(workspacePath(rest), { key, body });
  expect([rest, status < 300]).toEqual([rest, true]);
  return data;
};

const writeRecords = async (app: FastifyInstance, name: string, brand: CorpusBrand) => {
  const item = { item_type: 'ad', item_key: brand.adIds[0] };
  const subject = { subject_type: 'ad', subject_key: brand.adIds[0] };
  await post(app, 'tracked-brands', { brand_id: brand.id });
  const alert = { name, trigger: 'new_ads', brand_ids: [brand.id], email: true };
  const [{ id: alertId }, { id: reportId }, { id: collectionId }, { id: requestId }] = await Promise.all([
    post(app, 'alerts', alert),
    post(app, 'reports', { from: '2026-01-01', to: '2026-01-31' }),
    post(app, 'collections', { name, first_item: item }),
    post(app, 'brand-requests', { domain: `${name}.example` }),
    post(app, 'notes', { ...subject, body: name }),
    post(app, 'saved', item),
    post(app, 'api-keys', { name, scopes: ['me:read'] }),
  ]);
  await post(app, `alerts/${alertId}/test`, {});
  return { alertId, reportId, collectionId, requestId };
};

const append = async (stream: string, events: readonly Event[]): Promise<void> => {
  const { revision } = await stack.eventStore.load(stream, { initial: null, evolve: (state: null) => state });
  await stack.eventStore.append(stream, revision, events, METADATA, `behind ${stream}`);
};

const observe = async (observed_at: string): Promise<void> => {
  const recorded = scanRecorded(alpha.id, observed_at, {
    pages: [{ page_id: '104857600', page_name: 'A page', baseline: false }],
    totals: { seen: 3, active: 3, total: 4 },
  });
  await append(adLibraryStream(alpha.id), [recorded]);
  const site = siteEvents(siteScan('alpha.com', observed_at, { tools: [siteTool('one')] }));
  const estimate = trafficEvent('alpha.com', observed_at.slice(0, 10), { monthly_visits: 7 });
  for (const [stream, of] of Map.groupBy([...site, estimate], (given) => given.stream))
    await append(
      stream,
      of.map(({ event }) => event),
    );
};

const namesWhere = async (condition: string): Promise<readonly string[]> => {
  const { rows } = await stack.pool.query<{ name: string }>(
    `select name from projector.projection join projector.lag using (name) where ${condition} order by name`,
  );
  return rows.map(({ name }) => name);
};

/** Pauses all projections after a sample that finds none behind. */
const pauseAll = async (): Promise<void> => {
  await until(
    'no projection is behind',
    WAIT_MS,
    async () => (await namesWhere('lag_facts > 0')).length === 0,
  );
  await sampleProjections(stack.pool, silentLog());
  await stack.pool.query('update projector.projection set pause_at = position');
  await stack.pool.query(`select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', '')`);
  await until('all are paused', WAIT_MS, async () => (await namesWhere('not is_paused')).length === 0);
};

beforeAll(async () => {
  stack = await openApiStack();
  let app: FastifyInstance;
  [app, key, [alpha, beta]] = await Promise.all([
    stack.api(),
    stack.key({ plan: 'business' }),
    stack.seed(['alpha', 'beta']) as Promise<readonly [CorpusBrand, CorpusBrand]>,
  ]);
  await stack.projected(await recordCreative(stack, keyOf(1), [alpha.adIds[0] ?? '']));
  const scan = siteScan('gamma.com', '2026-05-01T08:00Z', { tools: [siteTool('arm-and-leg')] });
  await seedEvents(stack, [...siteEvents(scan), nameOperator(OPERATOR_ID)]);
  const briefId = await recordBrief(stack, key, [
    { brand_id: alpha.id, ads_started: 2, ads_stopped: 1, destinations_changed: 1 },
  ]);
  const written = await writeRecords(app, 'before', alpha);
  await stack.projected(await stack.eventStore.head());
  const idIn = async (list: string): Promise<string> => {
    const { data } = await on(app).get(workspacePath(list), { key });
    return (data as unknown as readonly Written[])[0]?.id ?? '';
  };
  const named = { itemId: await idIn('radar?days=365'), deliveryId: await idIn('alert-deliveries') };
  await pauseAll();
  missedSince = new Date().toISOString();
  const head = await stack.eventStore.head();

  const unwaiting = await stack.api({
    projectionWait: { ...stack.projectionWait, wait: () => Promise.resolve(false) },
  });
  await observe(missedSince);
  await writeRecords(unwaiting, 'after', beta);
  await colleague(stack, key);
  const feedback = { key, body: { feedback: 'useful' } };
  expect((await on(unwaiting).patch(workspacePath(`briefs/${briefId}`), feedback)).status).toBe(200);
  ids = {
    ...written,
    ...named,
    briefId,
    ws: key.workspaceId,
    brandId: alpha.id,
    adId: alpha.adIds[0] ?? '',
    pageId: landingPageOf('https://shop.example.com/0')?.landing_page_id ?? '',
    creativeId: creativeOf(1, alpha.adIds[0] ?? ''),
    creativeKey: keyOf(1),
  };
  // The projector counts the events of the log once a second.
  const ofWorkspaces = new Set(READS.filter(({ corpus }) => !corpus).flatMap(({ reads }) => reads));
  await until('the missed events are counted', WAIT_MS, async () => {
    const behind = new Set(await namesWhere('lag_facts > 0'));
    return [...ofWorkspaces].every((name) => behind.has(name));
  });
  await readMissed(head);
  reader = await stack.api();
}, 2 * WAIT_MS);
afterAll(() => stack[Symbol.asyncDispose]());

const QUERIES: Readonly<Record<string, () => string>> = {
  listRanking: () => '?country=US',
  getBrandBounds: () => '?figure=active_ads',
  listBrandChanges: () => '?since=2026-01-01T00:00:00Z',
  getBrandProof: () => '?figure=active_ads',
  listWorkspaceChanges: () => '?since=2026-01-01T00:00:00Z',
  lookUp: () => '?q=alpha',
  listPageDetails: () => `?ids=${PAGE_ID}`,
  listCreatives: () => `?brand_id=${alpha.id}`,
  getBrandNetwork: () => `?brand_id=${alpha.id}`,
  listBrandThumbs: () => `?brand_ids=${alpha.id}`,
};

const urlOf = ({ path, paramsExample, operationId }: Endpoint): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? paramsExample[name] ?? '') +
  (QUERIES[operationId]?.() ?? '');

describe('a reply whose read models lack events of the log', () => {
  test.each(READS.map((endpoint) => [endpoint.operationId, endpoint] as const))(
    'holds as of a time before them, and has an age: %s',
    async (_name, endpoint) => {
      const { status, meta } = await on(reader).get(urlOf(endpoint), { key });
      expect(status).toBe(200);
      // The projector may count events between the pause and the first that is missed.
      const missed = endpoint.reads.flatMap((model) => missedAt.get(model) ?? []);
      const limit = missed.length === 0 ? Date.parse(missedSince) : Math.min(...missed);
      expect(Date.parse(meta.as_of)).toBeLessThanOrEqual(limit);
      expect((meta as unknown as { lag_hours: number }).lag_hours).toBeGreaterThan(0);
    },
  );
});
