import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { SCOPES } from '#contracts/values/access.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { LIVE_KEY } from '#application/access/key-format.ts';
import { type Endpoint, errorsOf, scopesOf } from '#operations/endpoint/define-endpoint.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { PAGE_ID } from '#operations/pages.ts';
import { AD_ID, BRAND_ID, OPERATOR_ID } from '#operations/endpoint/examples.ts';
import { on } from '../dsl/api.ts';
import { siteEvents, siteScan, siteTool } from '../dsl/site-events.ts';
import { nameOperator } from '../projections/fixtures/network-events.ts';
import { HOOK } from '../operations/fixtures/alerting.ts';
import { outboxOf } from '../operations/fixtures/outbox.ts';
import { recordBrief } from '../operations/fixtures/brief-events.ts';
import type { CorpusBrand } from '../operations/fixtures/corpus.ts';
import { creativeOf, keyOf, recordCreative } from '../operations/fixtures/creative-events.ts';
import { seedEvents } from '../operations/fixtures/site-corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';

/** Tests statuses that do not depend on the data of an endpoint. */
let stack: ApiStack;
let app: FastifyInstance;
let broken: FastifyInstance;
/** API that admits no request, as with the maximum in progress. */
let crowded: FastifyInstance;
/** API whose rate-limit window never ends, however long a test takes. */
let fixedClockApi: FastifyInstance;
let key: Key;
let other: Key;
let alpha: CorpusBrand;
/** Key that has used up the minute of the fixed clock. */
let exhausted: Key;

beforeAll(async () => {
  stack = await openApiStack();
  const [opened, first, second, brands] = await Promise.all([
    stack.api(),
    stack.key({ plan: 'business' }),
    stack.key(),
    stack.seed(['alpha', 'beta']),
  ]);
  await createDeliveryTables(stack.pool);
  [app, key, other, alpha] = [opened, first, second, brands[0] as CorpusBrand];
  await stack.projected(await recordCreative(stack, keyOf(1), [alpha.adIds[0] ?? '']));
  const scan = siteScan('alpha.com', '2026-05-01T08:00Z', { tools: [siteTool('arm-and-leg')] });
  await seedEvents(stack, [...siteEvents(scan), nameOperator(OPERATOR_ID)]);
  broken = await openBroken();
  const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
  const noAnswer = (): Promise<never> => Promise.reject(gone);
  crowded = await stack.api({ accessDb: { query: noAnswer, slow: noAnswer } });
  const noon = new Date('2026-11-20T12:00:30.000Z');
  fixedClockApi = await stack.api({ clock: { now: () => noon }, nats: new Promise(() => undefined) });
  exhausted = await stack.key({ plan: 'free' });
  for (let count = 0; count < 100; count += 1) {
    expect((await on(fixedClockApi).get('/v1/me', { key: exhausted })).status).toBe(200);
  }
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Opens an API whose reads and writes fail. Authentication still works. */
const openBroken = async (): Promise<FastifyInstance> => {
  const query = async <Row>({
    sql,
    values,
  }: {
    sql: string;
    values: readonly unknown[];
  }): Promise<readonly Row[]> => {
    if (!sql.includes('access.api_key')) throw new Error('no database');
    return (await stack.pool.query(sql, [...values])).rows as Row[];
  };
  const read = (): AsyncIterable<never> => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no event store')) }),
  });
  const load = (): Promise<never> => Promise.reject(new Error('no event store'));
  return stack.api({
    db: { query, slow: query } satisfies ReadDatabase,
    eventStore: { ...stack.eventStore, read, load },
  });
};

const NOBODY = '00000000-0000-4000-8000-000000000000';
const ALPHA_LINK = 'https://shop.example.com/0';

/** Ids of the corpus, of objects that a test created, or else of the examples. */
type PathIds = Readonly<Record<string, string>>;

/** Creates an object for a path parameter: each request gets its own. */
const CREATE_BY_PARAMETER: Readonly<Record<string, () => Promise<string>>> = {
  collectionId: async () => {
    const body = { name: 'Boots', first_item: { item_type: 'ad', item_key: AD_ID } };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/collections`, { key, body });
    return (data as { id: string }).id;
  },
  noteId: async () => {
    const body = { subject_type: 'ad', subject_key: AD_ID, body: 'Nice.' };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/notes`, { key, body });
    return (data as { id: string }).id;
  },
  requestId: async () => {
    const body = { domain: 'requested.example' };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/brand-requests`, { key, body });
    return (data as { id: string }).id;
  },
  keyId: async () => {
    const body = { name: 'spare', scopes: ['me:read'] };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/api-keys`, { key, body });
    return (data as { key_id: string }).key_id;
  },
  alertId: async () => {
    await trackAlpha();
    const body = { name: 'Launches', trigger: 'new_ads', brand_ids: [alpha.id], email: true };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/alerts`, { key, body });
    return (data as { id: string }).id;
  },
  itemId: async () => {
    await trackAlpha();
    const { data } = await on(app).get(`/v1/workspaces/${key.workspaceId}/radar?days=365&limit=1`, { key });
    return (data as unknown as readonly { id: string }[])[0]?.id ?? '';
  },
  deliveryId: async () => {
    await trackAlpha();
    const body = { name: 'Launches', trigger: 'new_ads', brand_ids: [alpha.id], webhook_url: HOOK };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/alerts`, { key, body });
    const { queue, end, publish } = outboxOf(stack);
    const ids = await queue(key, data, [new Date().toISOString()]);
    await end(ids, 'failed');
    await publish();
    return ids[0] ?? '';
  },
  reportId: async () => {
    const body = { from: '2026-01-01', to: '2026-01-31' };
    const { data } = await on(app).post(`/v1/workspaces/${key.workspaceId}/reports`, { key, body });
    return (data as { id: string }).id;
  },
  briefId: () =>
    recordBrief(stack, key, [
      { brand_id: alpha.id, ads_started: 2, ads_stopped: 1, destinations_changed: 1 },
    ]),
};

const trackAlpha = async (): Promise<void> => {
  const body = { brand_id: alpha.id };
  await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, { key, body });
};

const PREPARE_BY_OPERATION: Readonly<Record<string, () => Promise<void>>> = {
  backtestAlert: trackAlpha,
  createAlert: trackAlpha,
  listBrandSignals: trackAlpha,
};

const createObjects = async (endpoint: Endpoint): Promise<PathIds> => {
  await PREPARE_BY_OPERATION[endpoint.operationId]?.();
  const ids: Record<string, string> = {};
  for (const name of Object.keys(endpoint.paramsExample)) {
    const id = await CREATE_BY_PARAMETER[name]?.();
    if (id !== undefined) ids[name] = id;
  }
  return ids;
};

const QUERIES: Readonly<Record<string, () => string>> = {
  listRanking: () => 'country=US',
  getBrandBounds: () => 'figure=active_ads',
  listBrandChanges: () => 'since=2026-01-01T00:00:00Z',
  getBrandProof: () => 'figure=active_ads',
  listWorkspaceChanges: () => 'since=2026-01-01T00:00:00Z',
  lookUp: () => 'q=alpha',
  listPageDetails: () => `ids=${PAGE_ID}`,
  listCreatives: () => `brand_id=${alpha.id}`,
  getBrandNetwork: () => `brand_id=${alpha.id}`,
  listBrandThumbs: () => `brand_ids=${alpha.id}`,
};

const urlOf = (endpoint: Endpoint, workspaceId: string, ids: PathIds = {}): string => {
  const pathIds: PathIds = {
    ...endpoint.paramsExample,
    ws: workspaceId,
    brandId: alpha.id,
    adId: alpha.adIds[0] ?? '',
    pageId: landingPageOf(ALPHA_LINK)?.landing_page_id ?? '',
    creativeId: creativeOf(1, alpha.adIds[0] ?? ''),
    creativeKey: keyOf(1),
    ...ids,
  };
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(pathIds[name] ?? ''),
  );
  const query = QUERIES[endpoint.operationId]?.();
  return query === undefined ? path : `${path}?${query}`;
};

/** Body of the documentation example, with a brand of the corpus. */
const bodyOf = (endpoint: Endpoint): { body?: unknown } =>
  endpoint.body ? { body: JSON.stringify(endpoint.body.example).replaceAll(BRAND_ID, alpha.id) } : {};

const send = (
  server: FastifyInstance,
  endpoint: Endpoint,
  options: object = {},
  workspaceId = key.workspaceId,
  ids: PathIds = {},
) => on(server).send(endpoint.method, urlOf(endpoint, workspaceId, ids), { ...bodyOf(endpoint), ...options });

const named = (endpoints: readonly Endpoint[]) =>
  endpoints.map((endpoint) => [endpoint.operationId, endpoint] as const);

describe.each(named(ENDPOINTS.filter(({ body }) => body !== null)))('%s', (_name, endpoint) => {
  describe('400 for its body', () => {
    test('names a property too many, and records nothing', async () => {
      const head = await stack.eventStore.head();
      const url = urlOf(endpoint, key.workspaceId);
      const body = { ...(JSON.parse(String(bodyOf(endpoint).body)) as object), unheard_of: 1 };
      const reply = await on(app).send(endpoint.method, url, { key, body });
      expect(reply.status).toBe(400);
      expect(reply.error.details).toMatchObject([{ path: 'unheard_of', code: 'unrecognized_keys' }]);
      expect((await on(app).send(endpoint.method, url, { key })).status, 'without a body').toBe(400);
      expect(await stack.eventStore.head()).toBe(head);
    });
  });

  describe('413', () => {
    test('rejects a body above the limit', async () => {
      const reply = await send(app, endpoint, { key, body: ' '.repeat(100_000) });
      expect([reply.status, reply.error.type]).toEqual([413, 'bad_request']);
    });
  });

  describe('415', () => {
    test('rejects a body of another type', async () => {
      const reply = await send(app, endpoint, { key, headers: { 'content-type': 'text/plain' } });
      expect([reply.status, reply.error.type]).toEqual([415, 'bad_request']);
    });
  });
});

describe.each(named(ENDPOINTS.filter(({ path }) => path.endsWith('}'))))('%s', (_name, endpoint) => {
  describe('414', () => {
    test('rejects a path that no object has', async () => {
      const url = `${urlOf(endpoint, key.workspaceId)}${'a'.repeat(600)}`;
      const reply = await app.inject({ method: endpoint.method, url });
      expect(reply.statusCode).toBe(414);
    });
  });
});

describe.each(named(ENDPOINTS))('%s', (_name, endpoint) => {
  describe('declared reply', () => {
    test(`is ${endpoint.reply.status} with request id, rate-limit headers and no undocumented field`, async () => {
      const objects = await createObjects(endpoint);
      const sentAtMs = Date.now();
      const reply = await send(app, endpoint, { key }, key.workspaceId, objects);
      expect(reply.status).toBe(endpoint.reply.status);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-ratelimit-limit': '1000',
        'ratelimit-policy': '"minute";q=1000;w=60',
      });
      expect(Number(reply.headers['x-ratelimit-reset'])).toBeGreaterThan(sentAtMs / 1_000);
      expect(typeof reply.headers['x-read-position']).toBe(
        endpoint.scope.endsWith(':read') ? 'undefined' : 'string',
      );
    });
  });

  describe('400', () => {
    test('names an unknown parameter', async () => {
      const known = urlOf(endpoint, key.workspaceId);
      const url = `${known}${known.includes('?') ? '&' : '?'}unheard_of=1`;
      const reply = await on(app).send(endpoint.method, url, { key, ...bodyOf(endpoint) });
      expect(reply.status).toBe(400);
      expect(reply.error.details).toMatchObject([{ path: 'unheard_of', code: 'unrecognized_keys' }]);
    });

    // Another workspace is not found, and any text may name a segment.
    const parameters = Object.keys(endpoint.paramsExample).filter(
      (name) => !['ws', 'segment'].includes(name),
    );
    test.each(parameters)('names a malformed %s, and records nothing', async (name) => {
      const head = await stack.eventStore.head();
      const reply = await send(app, endpoint, { key }, key.workspaceId, { [name]: 'No such form' });
      expect(reply.status).toBe(400);
      expect(reply.error.details).toMatchObject([{ path: name }]);
      expect(await stack.eventStore.head()).toBe(head);
    });
  });

  describe('401', () => {
    test.each([
      ['no key', {}],
      ['an empty header', { authorization: '' }],
      ['another scheme', { authorization: 'Basic c3ZjOmxpdmU=' }],
      ['no checksum', { authorization: `Bearer svc_live_${'a'.repeat(36)}` }],
      ['a key nobody issued', { authorization: `Bearer ${LIVE_KEY.create()}` }],
    ])('rejects %s', async (_case, headers) => {
      const reply = await send(app, endpoint, { headers });
      expect(reply.status).toBe(401);
      expect(reply.error.type).toBe('unauthorized');
      expect(reply.headers['x-ratelimit-limit']).toBeUndefined();
    });
  });

  describe('403', () => {
    test('rejects a key that has all scopes except those of the endpoint', async () => {
      const lacking = await stack.key({
        scopes: SCOPES.filter((scope) => !scopesOf(endpoint).includes(scope)),
      });
      const reply = await send(app, endpoint, { key: lacking }, lacking.workspaceId);
      expect(reply.status).toBe(403);
      expect(reply.error.type).toBe('forbidden');
    });
  });

  describe('405', () => {
    test('names the methods of the path', async () => {
      const reply = await app.inject({ method: 'PUT', url: urlOf(endpoint, key.workspaceId) });
      expect(reply.statusCode).toBe(405);
      expect(reply.headers['allow']).toContain(endpoint.method);
    });
  });

  describe('406', () => {
    test('names the types that are sent', async () => {
      const reply = await send(app, endpoint, { key, headers: { accept: 'application/xml' } });
      expect(reply.status).toBe(406);
      expect(reply.error.message).toContain('application/json');
    });
  });

  describe('429', () => {
    test('rejects a request when the rate limit of the plan is exhausted', async () => {
      const reply = await send(fixedClockApi, endpoint, { key: exhausted }, exhausted.workspaceId);
      expect(reply.status).toBe(429);
      expect(reply.headers).toMatchObject({
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.parse('2026-11-20T12:01:00.000Z') / 1_000),
        'retry-after': '30',
      });
    });
  });

  describe('503', () => {
    test('asks to try again while the database is gone', async () => {
      const reply = await send(crowded, endpoint, { key });
      expect(reply.status).toBe(503);
      expect([reply.error.type, reply.headers['retry-after']]).toEqual(['unavailable', '3']);
    });
  });

  describe('500', () => {
    test('replies with a generic error when a dependency fails', async () => {
      const reply = await send(broken, endpoint, { key });
      expect(reply.status).toBe(500);
      expect(reply.error).toMatchObject({ type: 'internal' });
      expect(reply.body).not.toContain('database');
    });
  });
});

const corpusReads = ENDPOINTS.filter(({ corpus }) => corpus);
describe.each(corpusReads.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s 304',
  (_name, endpoint) => {
    test('replies 304 to its own ETag, which counts against the rate limit like any answer', async () => {
      const own = await stack.key();
      // No new minute of the rate limit begins between two requests.
      const first = await send(fixedClockApi, endpoint, { key: own });
      const etag = String(first.headers['etag']);
      expect(etag).toMatch(/^W\/"[\w-]+"$/);
      const again = await send(fixedClockApi, endpoint, {
        key: own,
        headers: { 'if-none-match': `"other", ${etag}` },
      });
      expect(again.status).toBe(304);
      expect(again.headers['etag']).toBe(etag);
      expect(Number(again.headers['x-ratelimit-remaining'])).toBe(
        Number(first.headers['x-ratelimit-remaining']) - 1,
      );
      expect(
        (await send(fixedClockApi, endpoint, { key: own, headers: { 'if-none-match': '"other"' } })).status,
      ).toBe(200);
    });
  },
);

const ofWorkspaces = ENDPOINTS.filter(({ path }) => path.includes('{ws}'));
describe.each(ofWorkspaces.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s 404',
  (_name, endpoint) => {
    test('replies 404, not 403, for another workspace, also without the scope', async () => {
      const lacking = await stack.key({ scopes: ['me:read'] });
      for (const caller of [key, lacking]) {
        expect((await send(app, endpoint, { key: caller }, other.workspaceId)).status).toBe(404);
      }
    });
  },
);

/** Ids in their form that no object has, by the parameter of the path that names one. */
const UNKNOWN: Readonly<Record<string, readonly string[]>> = {
  brandId: [NOBODY, 'nobody'],
  toolSlug: [NOBODY, 'unheard-of'],
  categoryId: [NOBODY],
  operatorId: [NOBODY],
  adId: ['77777777777'],
};
const ofObjects = ENDPOINTS.filter(({ method }) => method === 'GET').flatMap((endpoint) =>
  Object.entries(UNKNOWN).flatMap(([name, ids]) =>
    errorsOf(endpoint).includes('not_found') && endpoint.path.includes(`{${name}}`)
      ? ids.map((id) => [endpoint.operationId, name, id, endpoint] as const)
      : [],
  ),
);
test.each(ofObjects)('%s replies 404 for an unknown %s, %s', async (_operation, name, id, endpoint) => {
  const reply = await send(app, endpoint, { key }, key.workspaceId, { [name]: id });
  expect([reply.status, reply.error.type]).toEqual([404, 'not_found']);
});
