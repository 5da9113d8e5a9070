import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import {
  ACCEPTED_AT_ONCE_MAX,
  BRAND_REQUESTS_OPEN_MAX,
  type BrandRequest,
} from '#contracts/resources/workspace/brand-request.ts';
import { brandIdOf } from '#domain/ids.ts';
import { slugOfBrand } from '#tests/dsl/site-events.ts';
import { brandRequestIdOf } from '#domain/workspace/brand-requests.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { fulfilBrandRequests } from '#services/worker/brand-requests.ts';
import { on } from '#tests/dsl/api.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import { openHostedCommands } from '#tests/ops/fixtures/hosted-commands.ts';
import { registered } from '#tests/operations/fixtures/corpus.ts';
import { BASE_URL, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

const stack = await disposeAfterAll(openApiStack());
const app = await stack.api();
const db = await disposeAfterAll(Promise.resolve(openReadDatabase(stack.environment['DATABASE_URL'] ?? '')));
const commands = await disposeAfterAll(Promise.resolve(openHostedCommands()));

const pathOf = ({ workspaceId }: Key): string => `/v1/workspaces/${workspaceId}/brand-requests`;
const ask = (key: Key, body: object, headers: Record<string, string> = {}) =>
  on(app).post(pathOf(key), { key, body, headers });
const asked = async (key: Key, body: object): Promise<BrandRequest> => {
  const reply = await ask(key, body);
  expect(reply.status).toBe(201);
  return reply.data;
};
const read = async (key: Key, { id }: BrandRequest): Promise<BrandRequest> =>
  (await on(app).get(`${pathOf(key)}/${id}`, { key })).data;
const listed = async (key: Key, query = ''): Promise<readonly string[]> =>
  ((await on(app).get(`${pathOf(key)}${query}`, { key })).data as BrandRequest[]).map(({ domain }) => domain);
const eventsOf = async (stream: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read(stream)) types.push(type);
  return types;
};
const requestEvents = (key: Key) => eventsOf(brandRequestsStream(key.workspaceId));

const register = async (domain: string): Promise<void> => {
  const event = registered(domain, '2026-05-01T08:00:00.000Z');
  const stream = brandStream(brandIdOf(domain));
  const { position } = await stack.eventStore.append(
    stream,
    -1n,
    [event],
    metadataOf('ingest'),
    randomUUID(),
  );
  await stack.projected(position);
};
const fulfil = async (): Promise<number> => {
  const fulfilled = await fulfilBrandRequests({ ...stack, db, clock: { now: () => new Date() } });
  await stack.projected(await stack.eventStore.head());
  return fulfilled;
};

/** The brand is observed, and the worker finds it. Returns how many requests became ready. */
const observe = async (domain: string): Promise<number> => {
  await register(domain);
  return fulfil();
};

const ops = async (...words: readonly string[]) => {
  const { stdout, stderr, code } = await commands.run(
    ['--json', 'brand-request', ...words],
    stack.environment,
  );
  return code === 0 ? (JSON.parse(stdout) as unknown) : stderr;
};

describe('requestBrand 201', () => {
  test('is accepted within the plan, ready when the brand is observed, and tracked at once', async () => {
    const key = await stack.key();
    const body = {
      domain: 'WWW.Quiet-Harbor.example',
      page_id: '104857600123456',
      track: true,
      cadence: 'daily',
    };
    const request = await asked(key, body);
    expect(request).toMatchObject({
      id: brandRequestIdOf(key.workspaceId, 'quiet-harbor.example'),
      status: 'collecting',
      domain: 'quiet-harbor.example',
      page_id: '104857600123456',
      tracking: 'waiting',
      brand_id: null,
      url: null,
      created_by: key.memberId,
      ready_at: null,
    });
    expect(await read(key, request)).toEqual(request);
    expect(await fulfil()).toBe(0);

    expect(await observe('quiet-harbor.example')).toBe(1);
    const ready = await read(key, request);
    expect(ready).toEqual({
      ...request,
      status: 'ready',
      tracking: 'tracked',
      brand_id: brandIdOf('quiet-harbor.example'),
      url: `${BASE_URL}/v1/brands/${slugOfBrand('quiet-harbor.example')}`,
      ready_at: expect.any(String),
    });
    const { data } = await on(app).get(`/v1/workspaces/${key.workspaceId}/tracked-brands`, { key });
    expect(data).toMatchObject([{ brand: { id: ready.brand_id }, cadence: 'daily' }]);
    expect(await fulfil()).toBe(0);
    expect(await requestEvents(key)).toEqual([
      'BrandRequested',
      'BrandRequestAccepted',
      'BrandRequestFulfilled',
    ]);
  });

  test('returns the first request for the same domain, and another one to another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const first = await asked(key, { domain: 'again.example' });
    expect(await asked(key, { domain: 'www.again.example', track: true })).toEqual(first);
    const second = await asked(other, { domain: 'again.example' });
    expect(second.id).not.toBe(first.id);
    expect(await requestEvents(key)).toEqual(['BrandRequested', 'BrandRequestAccepted']);

    expect(await observe('again.example')).toBe(2);
    const ready = await asked(key, { domain: 'again.example' });
    expect(ready).toMatchObject({ id: first.id, status: 'ready', tracking: 'not_asked' });
    expect(await eventsOf(trackingStream(key.workspaceId))).toEqual([]);
  });

  test('waits for an operator beyond the allowance of the plan, who accepts or refuses it', async () => {
    const key = await stack.key({ plan: 'free' });
    expect(ACCEPTED_AT_ONCE_MAX.free).toBe(1);
    const [first, second, third] = [
      await asked(key, { domain: 'first.example' }),
      await asked(key, { domain: 'second.example' }),
      await asked(key, { domain: 'third.example' }),
    ];
    expect([first, second, third].map(({ status }) => status)).toEqual([
      'collecting',
      'requested',
      'requested',
    ]);
    expect(second.decided_at).toBeNull();
    expect(await ops('list', '--status', 'requested')).toMatchObject([
      { workspace_id: key.workspaceId, request_id: third.id, domain: 'third.example' },
      { request_id: second.id },
    ]);

    expect(await ops('accept', key.workspaceId, second.id)).toMatchObject({
      status: 'collecting',
      changed: true,
    });
    expect(await ops('accept', key.workspaceId, second.id)).toMatchObject({ changed: false });
    const reason = 'The domain sells nothing.';
    expect(await ops('refuse', key.workspaceId, third.id, '--reason', reason)).toMatchObject({
      changed: true,
    });
    expect(await read(key, second)).toMatchObject({ status: 'collecting', decided_at: expect.any(String) });
    expect(await read(key, third)).toMatchObject({ status: 'refused', reason });
    expect(await asked(key, { domain: 'third.example' })).toMatchObject({ status: 'refused', reason });
    expect(await observe('third.example')).toBe(0);
    expect(await read(key, third)).toMatchObject({ status: 'refused', url: null });

    expect(await observe('second.example')).toBe(1);
    expect(await ops('refuse', key.workspaceId, second.id, '--reason', reason)).toContain('is ready');
    expect(await ops('accept', key.workspaceId, randomUUID())).toContain('not found');
    expect(await ops('accept', second.id, second.id)).toContain('not found');
  });

  test('keeps the cadence of a brand that the workspace tracks before the request is ready', async () => {
    const key = await stack.key();
    const request = await asked(key, { domain: 'early.example', track: true, cadence: 'weekly' });
    await register('early.example');
    const body = { brand_id: brandIdOf('early.example'), cadence: 'daily' };
    await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, { key, body });
    expect(await fulfil()).toBe(1);
    expect(await read(key, request)).toMatchObject({ status: 'ready', tracking: 'tracked' });
    expect(await eventsOf(trackingStream(key.workspaceId))).toEqual(['BrandTracked']);
  });

  test('tells that no slot was free for the brand', async () => {
    const key = await stack.key({ plan: 'free' });
    const domains = Array.from({ length: 6 }, (_, index) => `slot-${index}.example`);
    const last = domains.at(-1) ?? '';
    const requests: BrandRequest[] = [];
    for (const domain of domains) {
      requests.push(await asked(key, { domain, track: true }));
      expect(await observe(domain)).toBe(1);
    }
    const states = await Promise.all(requests.map((request) => read(key, request)));
    expect(states.map(({ tracking }) => tracking)).toEqual([
      ...domains.slice(1).map(() => 'tracked'),
      'no_slot',
    ]);
    expect(states.map(({ status }) => status)).toEqual(domains.map(() => 'ready'));
    expect(await listed(key, '?status=ready&limit=1')).toEqual([last]);
  });

  test('tells the calls of the first reading and the days of a round once a collector has run', async () => {
    const key = await stack.key();
    expect(await asked(key, { domain: 'before.example' })).toMatchObject({
      forecast: null,
      forecast_reason: expect.stringContaining('No collector has run'),
    });
    await createCollectorTables(stack.pool);
    const alone = await asked(key, { domain: 'alone.example' });
    expect(alone).toMatchObject({ forecast: { calls: 11, days: 0.001 }, forecast_reason: null });
    await stack.pool.query(
      `insert into collecting.target (source, domain, cadence, wished_at, due_at)
       select source, 'shop-' || n || '.example', 'daily', now(), now()
       from generate_series(1, 2000) n, unnest(array['storefront', 'site']) source`,
    );
    const crowded = await asked(key, { domain: 'crowded.example' });
    expect(crowded.forecast?.calls).toBe(11);
    expect(crowded.forecast?.days).toBeCloseTo((2_001 * 11) / 11_520 / 24, 2);
    expect(await read(key, alone)).toEqual(alone);
  });
});

describe('requestBrand 400', () => {
  test.each<[string, object, string]>([
    ['a missing domain', {}, 'domain'],
    ['an address', { domain: 'https://shop.example/' }, 'domain'],
    ['a label with a hyphen at its end', { domain: 'shop-.example' }, 'domain'],
    ['a name', { domain: 'shop' }, 'domain'],
    ['a page that is no id', { domain: 'shop.example', page_id: 'shop' }, 'page_id'],
    ['another cadence', { domain: 'shop.example', cadence: 'hourly' }, 'cadence'],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const reply = await ask(key, body);
    expect(reply.status).toBe(400);
    expect(new Set(reply.error?.details?.map((detail) => detail.path))).toEqual(new Set([path]));
    expect(await requestEvents(key)).toEqual([]);
  });
});

describe('requestBrand 409', () => {
  test('names the address and the id of a brand that is known', async () => {
    const key = await stack.key();
    await observe('known.example');
    const reply = await ask(key, { domain: 'known.example', track: true });
    expect(reply).toMatchObject({
      status: 409,
      error: { details: [{ path: 'domain', code: 'brand_known' }] },
    });
    expect(reply.error?.message).toContain(`${BASE_URL}/v1/brands/known`);
    expect(reply.error?.message).toContain(brandIdOf('known.example'));
    expect(await requestEvents(key)).toEqual([]);
  });

  test('rejects a request while too many are open', async () => {
    const key = await stack.key({ plan: 'enterprise' });
    const workspace_id = key.workspaceId;
    const { position } = await stack.eventStore.append(
      brandRequestsStream(workspace_id),
      -1n,
      Array.from({ length: BRAND_REQUESTS_OPEN_MAX }, (_, index) => ({
        type: 'BrandRequested',
        data: {
          workspace_id,
          request_id: randomUUID(),
          brand_id: randomUUID(),
          domain: `open-${index}.example`,
          social_page_id: null,
          track: false,
          cadence: 'weekly',
          forecast: null,
          forecast_reason: null,
          requested_by: key.memberId,
          requested_at: new Date().toISOString(),
        },
      })),
      { ...metadataOf('tests'), workspace_id },
      randomUUID(),
    );
    await stack.projected(position);
    expect((await ask(key, { domain: 'more.example' })).status).toBe(409);
  });
});

describe('listBrandRequests 200', () => {
  test('lists the requests of the workspace page by page, newest first, by status', async () => {
    const [key, other] = await Promise.all([stack.key({ plan: 'free' }), stack.key()]);
    for (const name of ['one', 'two', 'three']) await asked(key, { domain: `${name}-listed.example` });
    await asked(other, { domain: 'other-listed.example' });
    const newestFirst = ['three-listed.example', 'two-listed.example', 'one-listed.example'];
    expect(await listed(key)).toEqual(newestFirst);
    const first = await on(app).get(`${pathOf(key)}?limit=2`, { key });
    expect(await listed(key, `?limit=2&cursor=${encodeURIComponent(first.meta.cursor ?? '')}`)).toEqual(
      newestFirst.slice(2),
    );
    expect(await listed(key, '?status=collecting')).toEqual(['one-listed.example']);
    expect(await listed(key, '?status=requested')).toEqual(newestFirst.slice(0, 2));
    expect(await listed(other)).toEqual(['other-listed.example']);
  });
});

describe('listBrandRequests 400', () => {
  test.each(['?status=open', '?q=shop'])('rejects %s', async (query) => {
    const key = await stack.key();
    expect((await on(app).get(`${pathOf(key)}${query}`, { key })).status).toBe(400);
  });
});

describe('getBrandRequest 200', () => {
  test('shows a request to keys of the workspace that may read what it tracks', async () => {
    const key = await stack.key({ scopes: ['tracking:read', 'tracking:write'] });
    const request = await asked(key, { domain: 'shown.example' });
    expect((await on(app).get(`${pathOf(key)}/${request.id.toUpperCase()}`, { key })).data).toEqual(request);
  });
});

describe('getBrandRequest 404', () => {
  test('rejects an unknown id, and the request of another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const { id } = await asked(other, { domain: 'hidden.example' });
    for (const unknown of [id, randomUUID()]) {
      expect((await on(app).get(`${pathOf(key)}/${unknown}`, { key })).status).toBe(404);
    }
  });
});
