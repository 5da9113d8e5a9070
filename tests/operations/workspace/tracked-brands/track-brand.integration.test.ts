import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCRAPE_REQUESTED, SCRAPES_STREAM, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import { brandIdOf } from '#domain/ids.ts';
import { on } from '#tests/dsl/api.ts';
import { loseReply } from '#tests/operations/fixtures/alerting.ts';
import { registered, seedBrand } from '#tests/operations/fixtures/corpus.ts';
import { BASE_URL, openApiStack } from '#tests/operations/fixtures/stack.ts';
import {
  eventsOf,
  pathOf,
  recordedOf,
  trackingThrough,
  openTrackingStack,
  type TrackingStack,
} from '#tests/operations/fixtures/tracking.ts';

let stack: TrackingStack;
beforeAll(async () => {
  stack = await openTrackingStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('trackBrand 201', () => {
  test('tracks weekly by default, and the next read shows the brand', async () => {
    const key = await stack.key();
    const reply = await trackingThrough(stack.app).track(key, stack.alpha.id);
    expect(reply.status).toBe(201);
    expect(reply.data).toMatchObject({
      brand_id: stack.alpha.id,
      workspace_id: key.workspaceId,
      cadence: 'weekly',
      url: `${BASE_URL}/v1/brands/${stack.alpha.slug}`,
    });
    const { data } = await on(stack.app).get(pathOf(key), { key });
    expect(data).toMatchObject([
      { brand: { id: stack.alpha.id }, cadence: 'weekly', freshness: { freshness_tier: 'weekly' } },
    ]);
  });

  test('keeps the creation time for another cadence, and appends nothing for the same one', async () => {
    const key = await stack.key();
    const first = await trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly');
    const second = await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily');
    const third = await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily');
    const { created_at } = first.data as { created_at: string };
    expect(second.data).toMatchObject({ cadence: 'daily', created_at });
    expect(third.data).toEqual(second.data);
    expect(third.headers['x-read-position']).toBe(second.headers['x-read-position']);
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked', 'TrackingCadenceChanged']);
  });

  test('sends one scrape request to the collectors', async () => {
    const key = await stack.key();
    const { data } = await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily');
    await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily');
    const messages = await stack.nats.jetstream.consumers.get(SCRAPES_STREAM, {
      filterSubjects: SCRAPE_REQUESTED,
    });
    const found: ScrapeRequested[] = [];
    for await (const message of await messages.fetch({ max_messages: 1_000, expires: 1_000 })) {
      const scrape = message.json<ScrapeRequested>();
      if (scrape.requested_at === (data as { created_at: string }).created_at) found.push(scrape);
    }
    expect(found).toEqual([
      { brand_id: stack.alpha.id, cadence: 'daily', requested_at: found[0]?.requested_at },
    ]);
  });

  test('tracks a brand that is registered but not projected yet', async () => {
    const key = await stack.key();
    await seedBrand(stack.eventStore, registered('moment.com', new Date().toISOString()));
    expect((await trackingThrough(stack.app).track(key, brandIdOf('moment.com'))).status).toBe(201);
  });

  test('tracks a brand while NATS is unavailable', async () => {
    const key = await stack.key();
    const alone = await stack.api({ nats: new Promise(() => undefined) });
    const reply = await on(alone).post(pathOf(key), { key, body: { brand_id: stack.alpha.id } });
    expect(reply.status).toBe(201);
  });

  test('records actor and request id in the event', async () => {
    const key = await stack.key();
    const requestId = `test-${randomUUID()}`;
    await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily', { 'x-request-id': requestId });
    const asked = {
      request_id: requestId,
      actor: { kind: 'api_key', id: key.keyId },
      workspace_id: key.workspaceId,
    };
    expect(await recordedOf(stack, key)).toMatchObject([{ type: 'BrandTracked', metadata: asked }]);
  });

  test('replies after a bounded wait when the projector is stopped', async () => {
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
    ['a slug', { brand_id: 'alpha' }, 'brand_id'],
    ['another cadence', { brand_id: '{id}', cadence: 'hourly' }, 'cadence'],
    ['a list', [], ''],
  ])('rejects %s', async (_name, body, path) => {
    const key = await stack.key();
    const text = typeof body === 'string' ? body : JSON.stringify(body).replace('{id}', stack.alpha.id);
    const reply = await on(stack.app).post(pathOf(key), { key, body: text });
    expect(reply.status).toBe(400);
    expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('trackBrand 413, 415', () => {
  test('rejects a body above 64 KiB, and another content type', async () => {
    const key = await stack.key();
    const body = JSON.stringify({ brand_id: stack.alpha.id });
    const large = await on(stack.app).post(pathOf(key), { key, body: `${body}${' '.repeat(64 * 1024)}` });
    expect(large.status).toBe(413);
    const typed = await on(stack.app).post(pathOf(key), {
      key,
      body,
      headers: { 'content-type': 'text/plain' },
    });
    expect(typed.status).toBe(415);
  });
});

describe('trackBrand 402', () => {
  test('rejects a brand when all slots of the plan are used, until the plan is raised', async () => {
    const key = await stack.key({ plan: 'free' });
    for (const { id } of stack.brands.slice(0, 5))
      expect((await trackingThrough(stack.app).track(key, id)).status).toBe(201);
    const sixth = stack.brands[5]?.id ?? '';
    const reply = await trackingThrough(stack.app).track(key, sixth);
    expect(reply.status).toBe(402);
    expect(reply.error.type).toBe('payment_required');
    expect((await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily')).status).toBe(201);
    await stack.plan(key, 'pro');
    expect((await trackingThrough(stack.app).track(key, sixth)).status).toBe(201);
  });

  test('never exceeds the slots of the plan under concurrent requests', async () => {
    const key = await stack.key({ plan: 'free' });
    const replies = await Promise.all(
      stack.brands.map(({ id }) => trackingThrough(stack.app).track(key, id)),
    );
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
  test('rejects an unknown brand, and another workspace', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    expect((await trackingThrough(stack.app).track(key, brandIdOf('nowhere.example'))).status).toBe(404);
    const foreign = await on(stack.app).post(pathOf(other), { key, body: { brand_id: stack.alpha.id } });
    expect(foreign.status).toBe(404);
    expect(await eventsOf(stack, other)).toEqual([]);
  });
});

describe('trackBrand 409', () => {
  test('rejects an idempotency key that was used with another body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly', headers);
    const again = await trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly', headers);
    expect(again.data).toEqual(first.data);
    expect(again.headers['idempotency-replayed']).toBe('true');
    const other = await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily', headers);
    expect(other.status).toBe(409);
    expect(other.error.type).toBe('conflict');
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked']);
  });

  test('accepts repeated and concurrent requests with the same key and body', async () => {
    const key = await stack.key();
    const headers = { 'idempotency-key': randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: 8 }, () =>
        trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly', headers),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect(replies.filter((reply) => reply.headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  });

  test('records a request once whose reply was lost, also when another one has undone it meanwhile', async () => {
    const key = await stack.key();
    const idempotencyKey = randomUUID();
    const track = () =>
      trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly', { 'idempotency-key': idempotencyKey });
    const first = await track();
    await trackingThrough(stack.app).untrack(key, stack.alpha.id);
    await loseReply(stack, idempotencyKey);
    expect(await track()).toMatchObject({ status: 201, data: first.data });
    expect(await eventsOf(stack, key)).toEqual(['BrandTracked', 'BrandUntracked']);
  });

  test('accepts the same idempotency key from another caller, and after a refusal', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    const headers = { 'idempotency-key': randomUUID() };
    expect(
      (await trackingThrough(stack.app).track(key, brandIdOf('later.com'), 'weekly', headers)).status,
    ).toBe(404);
    expect((await trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly', headers)).status).toBe(201);
    expect((await trackingThrough(stack.app).track(other, stack.alpha.id, 'daily', headers)).status).toBe(
      201,
    );
  });
});
