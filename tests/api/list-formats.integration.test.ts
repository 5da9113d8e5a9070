import type { FastifyInstance } from 'fastify';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gunzipSync } from 'node:zlib';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { isList } from '#services/api/server/list-formats.ts';
import { on } from '../dsl/api.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { seedEvents } from '../operations/fixtures/site-corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';

const NDJSON = 'application/x-ndjson';
const BRANDS = 230;
const ROWS_MAX = 200;

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
beforeAll(async () => {
  stack = await openApiStack();
  [app, key] = await Promise.all([stack.api(), stack.key()]);
  await stack.seed(Array.from({ length: BRANDS }, (_, index) => `brand-${String(index).padStart(4, '0')}`));
});
afterAll(() => stack[Symbol.asyncDispose]());

const read = (url: string, accept: string, more: { headers?: object; app?: FastifyInstance } = {}) =>
  (more.app ?? app).inject({
    url,
    headers: { authorization: `Bearer ${key.text}`, accept, ...more.headers },
  });
const lines = (body: string): readonly unknown[] =>
  body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]));

const allPages = async (url: string): Promise<readonly unknown[]> => {
  const rows: unknown[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await on(app).get(`${url}${cursor === '' ? '' : `&cursor=${cursor}`}`, { key });
    rows.push(...(page.data as readonly unknown[]));
    cursor = page.meta.cursor;
  }
  return rows;
};

describe('a list', () => {
  test('as lines of JSON has the items of all pages', async () => {
    const url = '/v1/brands?limit=100';
    const reply = await read(url, NDJSON);
    expect([reply.statusCode, reply.headers]).toMatchObject([
      200,
      {
        'content-type': `${NDJSON}; charset=utf-8`,
        'x-as-of': expect.stringMatching(/Z$/) as string,
        'x-ratelimit-remaining': expect.anything() as string,
      },
    ]);
    expect(lines(reply.body)).toEqual(await allPages(url));
  });

  test('begins at the cursor of the request, and has no limit but its own', async () => {
    const { meta, data } = await on(app).get('/v1/brands?limit=7', { key });
    const rest = lines((await read(`/v1/brands?limit=7&cursor=${meta.cursor}`, NDJSON)).body);
    expect([...(data as readonly unknown[]), ...rest]).toEqual(await allPages('/v1/brands?limit=100'));
  });

  test('as CSV has one row for each item, with texts that no spreadsheet runs', async () => {
    const formula = '=HYPERLINK("https://evil.example","a")';
    const named = registered('formula.example', '2026-05-01T08:00:00.000Z', { name: formula });
    await seedEvents(stack, [{ stream: brandStream(brandIdOf('formula.example')), event: named }]);
    const { body, headers } = await read('/v1/brands', 'text/csv');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    const rows = parse(body, { columns: true }) as readonly Record<string, string>[];
    const all = (await allPages('/v1/brands?limit=100')) as readonly Record<string, unknown>[];
    expect(rows.map(({ brand_id }) => brand_id)).toEqual(all.map(({ brand_id }) => brand_id));
    expect(rows.map(({ name }) => name)).toContain(`'${formula}`);
  });

  test('that is longer than the limit ends with the cursor of its rest', async () => {
    const bounded = await stack.api({ rowsMax: ROWS_MAX });
    const reply = await read('/v1/brands', NDJSON, { app: bounded });
    const first = lines(reply.body);
    expect(first).toHaveLength(ROWS_MAX);
    const cursor = reply.trailers['x-next-cursor'];
    const rest = lines((await read(`/v1/brands?cursor=${cursor}`, NDJSON)).body);
    expect([...first, ...rest]).toEqual(await allPages('/v1/brands?limit=100'));
  });

  test('is compressed as it is sent', async () => {
    const reply = await read('/v1/brands', NDJSON, { headers: { 'accept-encoding': 'gzip' } });
    expect(reply.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept, accept-encoding' });
    expect(gunzipSync(reply.rawPayload).toString()).toBe((await read('/v1/brands', NDJSON)).body);
  });

  test('is sent to at most two requests of a workspace at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => read('/v1/brands', NDJSON)));
    expect(replies.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([
      200, 200, 503, 503,
    ]);
    expect(replies.find(({ statusCode }) => statusCode === 503)?.headers['retry-after']).toBe('2');
    expect((await read('/v1/brands', NDJSON)).statusCode).toBe(200);
  });

  test('is JSON unless rows are preferred', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html, */*;q=0.1', 'text/csv;q=0.5, application/*'])
      expect((await read('/v1/brands', accept)).headers['content-type']).toMatch(/^application\/json/);
    expect((await read('/v1/brands', 'text/*')).headers['content-type']).toMatch(/^text\/csv/);
  });

  test.each(ENDPOINTS.filter(isList).map((one) => [one.operationId, one] as const))(
    'of %s has the same number of rows in both formats',
    async (_name, { path, paramsExample }) => {
      const named: Readonly<Record<string, string>> = { ...paramsExample, ws: key.workspaceId };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
      const json = await read(url, 'application/json');
      const [ndjson, csv] = [await read(url, NDJSON), await read(url, 'text/csv')];
      expect([ndjson.statusCode, csv.statusCode]).toEqual([json.statusCode, json.statusCode]);
      if (json.statusCode !== 200) return;
      const [header, ...rows] = parse(csv.body) as readonly (readonly string[])[];
      expect(new Set(header).size).toBe(header?.length);
      expect(rows).toHaveLength(lines(ndjson.body).length);
    },
  );
});

test('a type that an endpoint does not send is refused with those that it sends', async () => {
  for (const [url, accept, offered] of [
    ['/v1/brands', 'application/xml', /application\/json.*application\/x-ndjson.*text\/csv/],
    ['/v1/me', 'text/csv', /^Send `accept: application\/json`/],
  ] as const) {
    const { error } = (await read(url, accept)).json<{ error: { status: number; message: string } }>();
    expect(error).toMatchObject({ status: 406, message: expect.stringMatching(offered) as string });
  }
});
