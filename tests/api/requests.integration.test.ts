import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { AD_ID, BRAND_ID } from '#operations/endpoint/examples.ts';
import { on } from '../dsl/api.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { seedEvents } from '../operations/fixtures/site-corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';

/** Each boundary case gets the documented reply and no internal error. */
const TOO_LARGE = JSON.stringify({ body: 'a'.repeat(100_000) });
const LONG_NAME = `${'a-'.repeat(30)}a.${'b'.repeat(60)}.${'c'.repeat(60)}`;

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let other: Key;
beforeAll(async () => {
  stack = await openApiStack();
  [app, key, other] = await Promise.all([stack.api(), stack.key(), stack.key()]);
  await stack.seed(['alpha', LONG_NAME]);
});
afterAll(() => stack[Symbol.asyncDispose]());

const here = (path: string, whose = key): string => `/v1/workspaces/${whose.workspaceId}/${path}`;

describe('the fault of a parameter', () => {
  type Fault = { readonly path: string; readonly message: string };
  const messageOf = async (url: string): Promise<readonly unknown[]> => {
    const { status, error } = await on(app).get(url, { key });
    expect(status).toBe(400);
    return ((error.details ?? []) as unknown as readonly Fault[]).map(({ path, message }) => [path, message]);
  };
  const TIME = 'must be a time in UTC such as `2026-11-01T00:00:00Z`';

  test('that has another format than a time shows a valid one', async () => {
    for (const name of ['as_of', 'observed_as_of'])
      expect(await messageOf(`/v1/brands/alpha?${name}=yesterday`)).toEqual([[name, TIME]]);
    for (const path of ['/v1/brands/alpha/changes', here('changes')])
      expect(await messageOf(`${path}?since=2026-11-01&until=now`)).toEqual([
        ['since', TIME],
        ['until', TIME],
      ]);
    expect(await messageOf('/v1/brands/alpha/daily-activity?from=1.11.2026')).toEqual([
      ['from', 'must be a date such as `2026-11-01`'],
    ]);
  });

  test('that is missing says what to send', async () => {
    for (const path of ['/v1/brands/alpha/changes', here('changes')])
      expect(await messageOf(path)).toEqual([
        [
          'since',
          'send either `since`, such as `2026-11-01T00:00:00Z`, or the `since_token` of an earlier call',
        ],
      ]);
    expect(await messageOf('/v1/brands/alpha/bounds')).toEqual([
      ['figure', 'is missing: send one of `active_ads`, `total_ads`, `new_ads`, `retired_ads`'],
    ]);
  });

  test('has plain words at every endpoint, as that of a property has', async () => {
    const faults: string[] = [];
    for (const { method, path, paramsExample, query, body } of ENDPOINTS) {
      const named: Readonly<Record<string, string>> = { ...paramsExample, ws: key.workspaceId };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
      const wrong = Object.keys(query.shape).map((name) => `${name}=,`);
      for (const [text, payload] of [
        ['', {}],
        [`?${wrong.join('&')}`, []],
      ] as const) {
        const headers = { authorization: `Bearer ${key.text}` };
        const reply = await app.inject({ method, url: `${url}${text}`, headers, ...(body && { payload }) });
        const { error } = reply.json<{ error?: { details?: readonly Fault[] } }>();
        faults.push(...(error?.details ?? []).map(({ message }) => message));
      }
    }
    expect(faults.length).toBeGreaterThan(100);
    expect(faults.filter((text) => /Invalid|undefined|received/.test(text))).toEqual([]);
  });
});

describe('a body', () => {
  test.each(ENDPOINTS.filter(({ body }) => body === null).map((one) => [one.operationId, one] as const))(
    'is rejected by %s, which takes none',
    async (_name, { path, paramsExample }) => {
      const named: Readonly<Record<string, string>> = { ...paramsExample, ws: key.workspaceId };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
      const reply = await on(app).get(url, { key, body: {} });
      expect([reply.status, reply.error.details?.at(-1)?.code]).toEqual([400, 'body_not_allowed']);
    },
  );

  test('above the size limit is reported only to callers who may use the endpoint', async () => {
    const sender = (scopes: readonly ['notes:read'] | 'all') => stack.key({ scopes });
    const [reader, writer] = await Promise.all([sender(['notes:read']), sender('all')]);
    const send = (url: string, sentBy?: Key) =>
      on(app).post(url, { ...(sentBy ? { key: sentBy } : {}), body: TOO_LARGE });
    expect((await send(here('notes'))).status).toBe(401);
    expect((await send(here('notes', reader), reader)).status).toBe(403);
    expect((await send(here('notes'), writer)).status).toBe(404);
    const refused = await send(here('notes', writer), writer);
    expect([refused.status, refused.error.details?.length]).toEqual([413, 1]);
    expect(refused.headers['x-ratelimit-remaining']).toBeDefined();
  });

  test('of another type or encoding than JSON is 415', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      const { status, error } = await on(app).post(here('collections'), {
        key,
        body: { name: 'One' },
        headers,
      });
      expect([status, error.details?.length]).toEqual([415, 1]);
    }
  });

  test('with invalid JSON does not hide other faults', async () => {
    const { error } = await on(app).post(`${here('notes')}?limit=5`, { key, body: 'nonsense' });
    expect(error.details).toMatchObject([{ path: 'limit' }, { path: '', code: 'invalid_json' }]);
  });
});

describe('ids in paths', () => {
  test('may be as long as an older slug of a brand', async () => {
    const slug = `${LONG_NAME}.com`.replaceAll('-', '--').replaceAll('.', '-');
    expect(slug.length).toBeGreaterThan(200);
    const reply = await on(app).get(`/v1/brands/${slug}`, { key });
    expect([reply.status, reply.headers['location']]).toEqual([308, `/v1/brands/${'c'.repeat(60)}`]);
  });

  test('may be as long as the key of a saved item', async () => {
    const item = { item_type: 'creative_record', item_key: 'k'.repeat(128) };
    expect((await on(app).post(here('saved'), { key, body: item })).status).toBe(201);
    const removed = await on(app).delete(here(`saved/creative_record/${item.item_key}`), { key, body: {} });
    expect([removed.status, removed.data]).toMatchObject([200, { removed: true }]);
  });

  test('may be uuids of any version and variant', async () => {
    for (const id of ['FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', '96c076cf-202d-f1c6-0a47-ac1810e48e57']) {
      expect((await on(app).get(`/v1/pages?brand_id=${id}`, { key })).data).toEqual([]);
      expect((await on(app).get(`/v1/categories/${id}`, { key })).status).toBe(404);
      const removed = await on(app).delete(here(`notes/${id}`), { key, body: {} });
      expect(removed.data).toMatchObject({ note_id: id.toLowerCase(), removed: false });
    }
    expect((await on(app).get('/v1/pages?brand_id=96c076cf202df1c60a47ac1810e48e57', { key })).status).toBe(
      400,
    );
  });

  test('are named in the error when they are neither a slug nor a uuid', async () => {
    for (const [url, path] of [
      ['/v1/brands/%E2%82%AC', 'brandId'],
      ['/v1/tools/A%20B', 'toolSlug'],
      ['/v1/brand-network?brand_id=A', 'brand_id'],
    ] as const) {
      const { status, error } = await on(app).get(url, { key });
      expect([status, error.details]).toMatchObject([400, [{ path, message: 'a slug, or a uuid' }]]);
    }
  });
});

describe('dates', () => {
  const far = ['0000-01-01', '0001-01-01', '1999-12-31', '3000-01-01', '9999-12-31', '2026-02-30'];
  const near = ['2000-01-01', '2024-02-29', '2999-12-31'];
  test.each(['from', 'to'])('out of range are rejected in `%s` of daily activity', async (name) => {
    const ask = async (date: string): Promise<number> =>
      (await on(app).get(`/v1/brands/alpha/daily-activity?${name}=${date}`, { key })).status;
    expect(await Promise.all(far.map(ask))).toEqual(far.map(() => 400));
    expect(await Promise.all(near.map(ask))).toEqual(near.map(() => 200));
  });
  test('out of range are rejected by the radar', async () => {
    const ask = async (date: string): Promise<number> =>
      (await on(app).get(here(`radar?date=${date}`), { key })).status;
    expect(await Promise.all(far.map(ask))).toEqual(far.map(() => 400));
    expect(await Promise.all(near.map(ask))).toEqual(near.map(() => 200));
  });
});

describe('text', () => {
  test('without visible characters is rejected as a name and as a note', async () => {
    const named = async (name: string): Promise<number> =>
      (await on(app).post(here('collections'), { key, body: { name } })).status;
    const unseen = [' ', '\u00a0\u3000', '\u202e\ufeff', '\u200b\u2060\u200d'];
    expect(await Promise.all(unseen.map(named))).toEqual(unseen.map(() => 400));
    const seen = ['-', '👩‍🚀', 'שלום', '日'];
    expect(await Promise.all(seen.map(named))).toEqual(seen.map(() => 201));
    const note = { subject_type: 'ad', subject_key: AD_ID, body: '\u200b\n' };
    expect((await on(app).post(here('notes'), { key, body: note })).status).toBe(400);
  });

  test.each(['a\u0000', '\ud800', ''])('%j is rejected as the idempotency key of a report', async (text) => {
    const body = { from: '2026-01-01', to: '2026-01-31', idempotency_key: text };
    const { status, error } = await on(app).post(here('reports'), { key, body });
    expect([status, error.details]).toMatchObject([400, [{ path: 'idempotency_key' }]]);
  });
});

describe('search text', () => {
  const namesFound = async (words: string): Promise<string[]> => {
    const { data } = await on(app).get(`/v1/brands?q=${encodeURIComponent(words)}`, { key });
    return (data as { name: string }[]).map(({ name }) => name);
  };
  test('find a name regardless of case, in every script', async () => {
    const names = ['İSTANBUL ΣΊΣΥΦΟΣ', 'École 100%'];
    await seedEvents(
      stack,
      names.map((name, index) => ({
        stream: brandStream(brandIdOf(`named-${index}.org`)),
        event: registered(`named-${index}.org`, '2026-05-01T00:00:00.000Z', { name, category_path: [] }),
      })),
    );
    for (const words of ['İSTANBUL ΣΊΣΥΦΟΣ', 'istanbul', 'ΣΊΣΥΦΟΣ', 'ΣΊΣ']) {
      expect(await namesFound(words)).toEqual([names[0]]);
    }
    for (const words of ['ÉCOLE', 'éc', '0%']) expect(await namesFound(words)).toEqual([names[1]]);
  });

  test('are limited by the number of characters, also outside the basic plane', async () => {
    const ask = async (words: string): Promise<number> =>
      (await on(app).get(`/v1/brands?q=${encodeURIComponent(words)}`, { key })).status;
    expect(await Promise.all([ask('👢'.repeat(100)), ask('👢'.repeat(101)), ask('a'.repeat(101))])).toEqual([
      200, 400, 400,
    ]);
  });
});

describe('writes', () => {
  const body = { subject_type: 'ad', subject_key: AD_ID, body: 'Look again.' };
  test('reply with an `as_of` that is not before the write', async () => {
    const { data, meta } = await on(app).post(here('notes'), { key, body });
    expect(meta.as_of >= (data as { created_at: string }).created_at).toBe(true);
  });
  test('that are replayed return the same `x-read-position`', async () => {
    const send = () =>
      on(app).post(here('notes', other), {
        key: other,
        body,
        headers: { 'idempotency-key': `once-${BRAND_ID}` },
      });
    const [first, again] = [await send(), await send()];
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(first.headers['x-read-position']).toMatch(/^\d+$/);
    expect(again.headers['x-read-position']).toBe(first.headers['x-read-position']);
  });
});
