import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedFact } from '#contracts/events/fact.ts';
import { type TrackingFact, trackingStream } from '#contracts/events/workspace.ts';
import { SCRAPE_REQUESTED, SCRAPES_STREAM, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import { brandIdOf } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import { type CorpusBrand, registered, seedBrand } from './corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from './stack.ts';

let stack: ApiStack;
let app: FastifyInstance;
let brands: readonly CorpusBrand[];
let alpha: CorpusBrand;

beforeAll(async () => {
  stack = await openApiStack();
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
  [app, brands] = await Promise.all([stack.api(), stack.seed(names)]);
  alpha = brands[0] as CorpusBrand;
});
afterAll(() => stack[Symbol.asyncDispose]());

const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/tracked-brands`;
const track = (key: Key, brandId: string, cadence?: string, headers: Record<string, string> = {}) =>
  on(app).post(pathOf(key), { key, headers, body: { brand_id: brandId, ...(cadence ? { cadence } : {}) } });
const untrack = (key: Key, brandId: string, body: unknown = {}) =>
  on(app).delete(`${pathOf(key)}/${brandId}`, { key, ...(body === undefined ? {} : { body }) });
const recordedOf = async (key: Key): Promise<readonly RecordedFact<TrackingFact>[]> => {
  const facts: RecordedFact<TrackingFact>[] = [];
  for await (const fact of stack.eventStore.read<TrackingFact>(trackingStream(key.workspaceId)))
    facts.push(fact);
  return facts;
};
const factsOf = async (key: Key): Promise<readonly string[]> =>
  (await recordedOf(key)).map(({ type }) => type);

describe('trackBrand 201', () => {
  test('tracks weekly unless told otherwise, and the next read shows it', async () => {
    const key = await stack.key();
    const reply = await track(key, alpha.id);
    expect(reply.status).toBe(201);
    expect(reply.data).toMatchObject({
      brand_id: alpha.id,
      workspace_id: key.workspaceId,
      cadence: 'weekly',
      url: `${BASE_URL}/v1/brands/${alpha.slug}`,
    });
    const { data } = await on(app).get(pathOf(key), { key });
    expect(data).toMatchObject([
      { brand: { id: alpha.id }, cadence: 'weekly', freshness: { freshness_tier: 'weekly' } },
    ]);
  });

  test('again with another cadence keeps the time, and with the same one records nothing', async () => {
    const key = await stack.key();
    const first = await track(key, alpha.id, 'weekly');
    const second = await track(key, alpha.id, 'daily');
    const third = await track(key, alpha.id, 'daily');
    const { created_at } = first.data as { created_at: string };
    expect(second.data).toMatchObject({ cadence: 'daily', created_at });
    expect(third.data).toEqual(second.data);
    expect(third.headers['x-read-position']).toBe(second.headers['x-read-position']);
    expect(await factsOf(key)).toEqual(['BrandTracked', 'TrackingCadenceChanged']);
  });

  test('hands the brand off to collectors, once', async () => {
    const key = await stack.key();
    const { data } = await track(key, alpha.id, 'daily');
    await track(key, alpha.id, 'daily');
    const messages = await stack.nats.jetstream.consumers.get(SCRAPES_STREAM, {
      filterSubjects: SCRAPE_REQUESTED,
    });
    const found: ScrapeRequested[] = [];
    for await (const message of await messages.fetch({ max_messages: 1_000, expires: 1_000 })) {
      const scrape = message.json<ScrapeRequested>();
      if (scrape.requested_at === (data as { created_at: string }).created_at) found.push(scrape);
    }
    expect(found).toEqual([{ brand_id: alpha.id, cadence: 'daily', requested_at: found[0]?.requested_at }]);
  });

  test('of a brand registered a moment ago, before any projection knows it', async () => {
    const key = await stack.key();
    await seedBrand(stack.eventStore, registered('moment.com', new Date().toISOString()));
    expect((await track(key, brandIdOf('moment.com'))).status).toBe(201);
  });

  test('while NATS is away', async () => {
    const key = await stack.key();
    const alone = await stack.api({ nats: new Promise(() => undefined) });
    const reply = await on(alone).post(pathOf(key), { key, body: { brand_id: alpha.id } });
    expect(reply.status).toBe(201);
  });

  test('writes who asked in which request into the fact', async () => {
    const key = await stack.key();
    const requestId = `test-${randomUUID()}`;
    await track(key, alpha.id, 'daily', { 'x-request-id': requestId });
    const asked = {
      request_id: requestId,
      actor: { kind: 'api_key', id: key.keyId },
      workspace_id: key.workspaceId,
    };
    expect(await recordedOf(key)).toMatchObject([{ type: 'BrandTracked', metadata: asked }]);
  });

  test('answers also when the projector stands still, after a bounded wait', async () => {
    const own = await openApiStack();
    try {
      const [server, [brand]] = await Promise.all([own.api(), own.seed(['alpha'])]);
      const key = await own.key();
      await own.stopProjector();
      const reply = await on(server).post(pathOf(key), { key, body: { brand_id: brand?.id } });
      expect(reply.status).toBe(201);
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });
});

describe('trackBrand 400', () => {
  test.each([
    ['a body that is no JSON', '{"brand_id":', ''],
    ['no body', '', ''],
    ['a property too many', { brand_id: '{id}', since: 'today' }, 'since'],
    ['a slug', { brand_id: 'alpha-com' }, 'brand_id'],
    ['another cadence', { brand_id: '{id}', cadence: 'hourly' }, 'cadence'],
    ['a list', [], ''],
  ])('for %s', async (_name, body, path) => {
    const key = await stack.key();
    const text = typeof body === 'string' ? body : JSON.stringify(body).replace('{id}', alpha.id);
    const reply = await on(app).post(pathOf(key), { key, body: text });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });

  test('for another content type, and for a body beyond 64 KiB', async () => {
    const key = await stack.key();
    const body = JSON.stringify({ brand_id: alpha.id });
    const typed = await on(app).post(pathOf(key), { key, body, headers: { 'content-type': 'text/plain' } });
    expect(typed.status).toBe(400);
    const large = await on(app).post(pathOf(key), { key, body: `${body}${' '.repeat(64 * 1024)}` });
    expect(large.status).toBe(400);
  });
});

describe('trackBrand 402', () => {
  test('when the slots of the plan are used up; a larger plan makes room at once', async () => {
    const key = await stack.key({ plan: 'free' });
    for (const { id } of brands.slice(0, 5)) expect((await track(key, id)).status).toBe(201);
    const sixth = brands[5]?.id ?? '';
    const reply = await track(key, sixth);
    expect(reply.status).toBe(402);
    expect(reply.error.type).toBe('payment_required');
    expect((await track(key, alpha.id, 'daily')).status).toBe(201);
    await stack.plan(key, 'pro');
    expect((await track(key, sixth)).status).toBe(201);
  });

  test('under a race for the last slots, never one too many', async () => {
    const key = await stack.key({ plan: 'free' });
    const replies = await Promise.all(brands.map(({ id }) => track(key, id)));
    expect(replies.map(({ status }) => String(status)).toSorted()).toEqual([
      '201',
      '201',
      '201',
      '201',
      '201',
      '402',
    ]);
  });
});

describe('trackBrand 404', () => {
  test('for a brand nobody knows, and for another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    expect((await track(key, brandIdOf('nowhere.example'))).status).toBe(404);
    const foreign = await on(app).post(pathOf(other), { key, body: { brand_id: alpha.id } });
    expect(foreign.status).toBe(404);
    expect(await factsOf(other)).toEqual([]);
  });
});

describe('trackBrand 409', () => {
  test('when an idempotency key comes with another body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await track(key, alpha.id, 'weekly', headers);
    const again = await track(key, alpha.id, 'weekly', headers);
    expect(again.data).toEqual(first.data);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const other = await track(key, alpha.id, 'daily', headers);
    expect(other.status).toBe(409);
    expect(other.error.type).toBe('conflict');
    expect(await factsOf(key)).toEqual(['BrandTracked']);
  });

  test('never for the same body, also at the same moment', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => track(key, alpha.id, 'weekly', headers)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(replies.filter((reply) => reply.headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  });

  test('nor for the key of another caller, nor after a refusal', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const headers = { 'idempotency-key': randomUUID() };
    expect((await track(key, brandIdOf('later.com'), 'weekly', headers)).status).toBe(404);
    expect((await track(key, alpha.id, 'weekly', headers)).status).toBe(201);
    expect((await track(other, alpha.id, 'daily', headers)).status).toBe(201);
  });
});

describe('listTrackedBrands 200', () => {
  test('page by page, newest first', async () => {
    const key = await stack.key();
    for (const { id } of brands.slice(0, 3)) await track(key, id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(app).get(`${pathOf(key)}?limit=2${cursor}`, { key });
      seen.push(...(data as { brand: { id: string } }[]).map(({ brand }) => brand.id));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen).toEqual(
      brands
        .slice(0, 3)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  test('shows a write of another process to whoever sends its position', async () => {
    const key = await stack.key();
    const written = await track(key, alpha.id);
    const other = await stack.api();
    const headers = { 'min-position': String(written.headers['x-read-position']) };
    expect((await on(other).get(pathOf(key), { key, headers })).data).toHaveLength(1);
  });
});

describe('listTrackedBrands 400', () => {
  test('for a cursor of another workspace, and for a position that is none', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    for (const { id } of brands.slice(0, 2)) await track(key, id);
    const { meta } = await on(app).get(`${pathOf(key)}?limit=1`, { key });
    expect((await on(app).get(`${pathOf(other)}?limit=1&cursor=${meta.cursor}`, { key: other })).status).toBe(
      400,
    );
    expect((await on(app).get(pathOf(key), { key, headers: { 'min-position': 'soon' } })).status).toBe(400);
  });
});

describe('listTrackedBrands 404', () => {
  test('for another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    expect((await on(app).get(pathOf(other), { key })).status).toBe(404);
  });
});

describe('listTrackedBrandsFreshness 200', () => {
  test('hours since the last reliable scan against the cadence, most overdue first', async () => {
    const key = await stack.key();
    await track(key, alpha.id, 'weekly');
    await track(key, brands[1]?.id ?? '', 'daily');
    const { data } = await on(app).get(`${pathOf(key)}/freshness`, { key });
    expect(data).toMatchObject([
      {
        brand: { id: brands[1]?.id },
        cadence: 'daily',
        slo_hours: 36,
        hours_since_reliable: 6,
        slo_status: 'ok',
      },
      {
        brand: { id: alpha.id },
        cadence: 'weekly',
        slo_hours: 192,
        hours_since_reliable: 6,
        slo_status: 'ok',
      },
    ]);
  });

  test('breached when the hours are over', async () => {
    const key = await stack.key();
    await track(key, alpha.id, 'daily');
    const later = await stack.api({ clock: { now: () => new Date(Date.now() + 31 * 3_600_000) } });
    const { data } = await on(later).get(`${pathOf(key)}/freshness`, { key });
    expect(data).toMatchObject([{ hours_since_reliable: 37, slo_status: 'breached' }]);
  });
});

describe('listTrackedBrandsFreshness 400', () => {
  test('for any parameter: it has no pages', async () => {
    const key = await stack.key();
    expect((await on(app).get(`${pathOf(key)}/freshness?limit=5`, { key })).status).toBe(400);
  });
});

describe('listTrackedBrandsFreshness 404', () => {
  test('for another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    expect((await on(app).get(`${pathOf(other)}/freshness`, { key })).status).toBe(404);
  });
});

describe('untrackBrand 200', () => {
  test('removes it once; the next read shows that', async () => {
    const key = await stack.key();
    await track(key, alpha.id);
    const removed = { brand_id: alpha.id, workspace_id: key.workspaceId };
    expect((await untrack(key, alpha.id)).data).toEqual({ ...removed, removed: true });
    expect((await on(app).get(pathOf(key), { key })).data).toEqual([]);
    expect((await untrack(key, alpha.id)).data).toEqual({ ...removed, removed: false });
  });
});

describe('untrackBrand 400', () => {
  test('for a slug, without a body, and with anything in the body', async () => {
    const key = await stack.key();
    expect((await untrack(key, alpha.slug)).status).toBe(400);
    expect((await untrack(key, alpha.id, '')).status).toBe(400);
    expect((await on(app).delete(`${pathOf(key)}/${alpha.id}`, { key })).status).toBe(400);
    expect((await untrack(key, alpha.id, { force: true })).error.details).toMatchObject([{ path: 'force' }]);
  });
});

describe('untrackBrand 404', () => {
  test('for another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const reply = await on(app).delete(`${pathOf(other)}/${alpha.id}`, { key, body: {} });
    expect(reply.status).toBe(404);
  });
});

describe('untrackBrand 409', () => {
  test('when others change the same for longer than anybody should wait', async () => {
    const key = await stack.key();
    const decide = (): Promise<never> => Promise.reject(new Refusal('changed_meanwhile', 'Try again.'));
    const crowded = await stack.api({ eventStore: { ...stack.eventStore, decide } });
    const reply = await on(crowded).delete(`${pathOf(key)}/${alpha.id}`, { key, body: {} });
    expect(reply.status).toBe(409);
    expect(reply.error.type).toBe('conflict');
  });
});
