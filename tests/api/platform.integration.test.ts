import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAccessSubscription } from '#application/access/access-subscription.ts';
import { ErrorBody } from '#contracts/resources/envelope.ts';
import { silentLog } from '#platform/logger.ts';
import { CORS_ORIGINS } from '#services/api/server/cross-origin.ts';
import { MEDIA_PATH } from '#contracts/values/media/stored-media.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { openApiDocument } from '#services/api/openapi/document.ts';
import { on, type Reply } from '../dsl/api.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../operations/fixtures/stack.ts';

let stack: ApiStack;
let app: FastifyInstance;

beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('request ids', () => {
  test('keep the id of the caller when it is safe in a header, and are generated otherwise', async () => {
    const key = await stack.key();
    const given = await on(app).get('/v1/me', { key, headers: { 'x-request-id': 'client-4711.a_b' } });
    expect(given.meta.request_id).toBe('client-4711.a_b');
    for (const odd of ['short', 'x'.repeat(65), 'with space ', '"quoted"id']) {
      const reply = await on(app).get('/v1/me', { key, headers: { 'x-request-id': odd } });
      expect(reply.meta.request_id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
  test('are sent with refusals', async () => {
    const reply = await on(app).get('/v1/me', { headers: { 'x-request-id': 'client-4711' } });
    expect(reply.headers['x-request-id']).toBe('client-4711');
  });
});

describe('requests without an endpoint', () => {
  const notFound = { error: { type: 'not_found', status: 404 } };
  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['POST', '/v1'],
    ['PUT', '/v1/brand'],
    ['HEAD', '/v1/brand'],
    ['OPTIONS', '/v1/brand'],
  ])('%s %s is 404', async (method, url) => {
    const reply = await app.inject({ method: method as 'GET', url });
    expect(reply.statusCode).toBe(404);
    // The reply to HEAD has no body.
    const body: unknown = method === 'HEAD' ? notFound : reply.json();
    expect(body).toMatchObject(notFound);
  });
  test('a malformed percent-encoding is 400', async () => {
    const { status, error } = await on(app).get('/v1/brands/%E0%A4%A');
    expect([status, error.details?.[0]?.code]).toEqual([400, 'fst_err_bad_url']);
  });
  test('a path with a part that no name has is 414', async () => {
    const reply = await app.inject({ url: `/v1/brands/${'a'.repeat(600)}` });
    expect([reply.statusCode, reply.json()]).toMatchObject([
      414,
      { error: { type: 'bad_request', status: 414, details: [{ code: 'path_too_long' }] } },
    ]);
  });
  test('an oversized body to an unknown path is 404', async () => {
    const reply = await app.inject({ method: 'POST', url: '/v1/nothing', payload: 'a'.repeat(100_000) });
    expect([reply.statusCode, reply.json()]).toMatchObject([404, notFound]);
  });
});

describe('methods', () => {
  test.each(ENDPOINTS.filter(({ method }) => method === 'GET').map((one) => [one.operationId, one] as const))(
    'HEAD has the status and the headers of GET and no body at %s',
    async (_name, { path, paramsExample }) => {
      const key = await stack.key();
      const named: Readonly<Record<string, string>> = { ...paramsExample, ws: key.workspaceId };
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
      const headers = { authorization: `Bearer ${key.text}`, 'x-request-id': 'client-4711' };
      const [get, head] = [
        await app.inject({ method: 'GET', url, headers }),
        await app.inject({ method: 'HEAD', url, headers }),
      ];
      expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
      expect(Object.keys(head.headers)).toEqual(Object.keys(get.headers));
    },
  );
  test.each([
    ['POST', '/v1/me', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/brands', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/workspaces/a/notes', 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', '/docs/', 'GET, HEAD, OPTIONS'],
    ['POST', `${MEDIA_PATH}/a`, 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 with the methods that the path takes', async (method, url, allow) => {
    const reply = await app.inject({ method: method as 'GET', url, payload: 'a'.repeat(100_000) });
    expect(reply.json()).toMatchObject({
      error: { type: 'bad_request', status: 405, details: [{ code: 'method_not_allowed' }] },
    });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, allow]);
  });
  test('OPTIONS names the methods of a path', async () => {
    const reply = await app.inject({ method: 'OPTIONS', url: '/v1/me' });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });
  test('a slash at the end of a path makes no difference, also for an idempotency key', async () => {
    const key = await stack.key();
    expect((await on(app).get('/v1/me/?', { key })).status).toBe(200);
    expect((await on(app).get('/v1/brands/?limit=1', { key })).status).toBe(200);
    const path = `/v1/workspaces/${key.workspaceId}/collections`;
    const headers = { 'idempotency-key': 'once' };
    const first = await on(app).post(path, { key, headers, body: { name: 'One' } });
    const again = await on(app).post(`${path}/`, { key, headers, body: { name: 'One' } });
    expect([first.status, again.headers['idempotency-replayed'], again.data]).toEqual([
      201,
      'true',
      first.data,
    ]);
  });
});

describe('pages of other origins', () => {
  const ORIGIN = 'https://app.example';
  const read = async (served: FastifyInstance, origin?: string) => {
    const { headers } = await served.inject({
      url: '/v1/me',
      headers: origin === undefined ? {} : { origin },
    });
    return {
      origin: headers['access-control-allow-origin'],
      exposed: headers['access-control-expose-headers'],
      vary: headers['vary'],
    };
  };
  test('may call the API and read its headers, also of refusals, by default', async () => {
    const any = await stack.api({ corsOrigins: CORS_ORIGINS.parse(undefined) });
    const exposed = expect.stringContaining('x-ratelimit-remaining') as string;
    expect(await read(any, ORIGIN)).toEqual({ origin: '*', exposed, vary: undefined });
    expect(await read(any)).toEqual({ origin: undefined, exposed: undefined, vary: undefined });
    const preflight = await any.inject({
      method: 'OPTIONS',
      url: '/v1/workspaces/a/notes',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    });
    expect([preflight.statusCode, preflight.headers]).toMatchObject([
      204,
      {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
        'access-control-allow-headers': expect.stringMatching(/authorization.*idempotency-key/) as string,
        'access-control-max-age': '86400',
      },
    ]);
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  });
  test('may call the API only from the origins of the setting', async () => {
    const some = await stack.api({ corsOrigins: CORS_ORIGINS.parse(`${ORIGIN}, https://b.example:8443`) });
    expect(await read(some, ORIGIN)).toMatchObject({ origin: ORIGIN, vary: 'origin' });
    expect(await read(some, 'https://evil.example')).toMatchObject({ origin: undefined, vary: 'origin' });
    const none = await stack.api({ corsOrigins: CORS_ORIGINS.parse('') });
    expect(await read(none, ORIGIN)).toMatchObject({ origin: undefined });
    expect(CORS_ORIGINS.safeParse('https://app.example/path').success).toBe(false);
  });
});

describe('compression', () => {
  const DECODE = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync };
  const url = '/v1/brands?limit=20';
  test.each(['zstd', 'br', 'gzip'] as const)(
    'by %s keeps the body, its ETag and its length',
    async (name) => {
      const key = await stack.key();
      await stack.seed(Array.from({ length: 20 }, (_, index) => `compressed-${name}-${index}`));
      const authorization = `Bearer ${key.text}`;
      const plain = await app.inject({ url, headers: { authorization, 'x-request-id': 'client-4711' } });
      const reply = await app.inject({
        url,
        headers: {
          authorization,
          'x-request-id': 'client-4711',
          'accept-encoding': `deflate, ${name};q=0.5`,
        },
      });
      expect(reply.headers).toMatchObject({
        'content-encoding': name,
        'content-length': String(reply.rawPayload.length),
        etag: plain.headers.etag,
        vary: 'accept-encoding',
      });
      const data = (body: string): unknown => (JSON.parse(body) as { data: unknown }).data;
      expect(data(DECODE[name](reply.rawPayload).toString())).toEqual(data(plain.body));
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'accept-encoding']);
      const head = await app.inject({
        method: 'HEAD',
        url,
        headers: { authorization, 'x-request-id': 'client-4711', 'accept-encoding': name },
      });
      expect([head.headers['content-encoding'], head.body]).toEqual([name, '']);
      const unchanged = await app.inject({
        url,
        headers: { authorization, 'if-none-match': String(reply.headers.etag), 'accept-encoding': name },
      });
      expect([unchanged.statusCode, unchanged.headers.vary]).toEqual([304, 'accept-encoding']);
    },
  );
  test('is not used for secrets, short replies and clients that refuse it', async () => {
    const key = await stack.key();
    const headers = { authorization: `Bearer ${key.text}`, 'accept-encoding': 'br' };
    const made = await app.inject({
      method: 'POST',
      url: `/v1/workspaces/${key.workspaceId}/api-keys`,
      headers: { ...headers, 'content-type': 'application/json' },
      payload: JSON.stringify({ name: 'n'.repeat(40), scopes: ['brands:read'] }),
    });
    expect([made.statusCode, made.headers['content-encoding']]).toEqual([201, undefined]);
    const short = await app.inject({ url: '/v1/me', headers });
    expect(short.headers['content-encoding']).toBeUndefined();
    const refused = await app.inject({
      url,
      headers: { ...headers, 'accept-encoding': 'gzip;q=0, identity' },
    });
    expect(refused.headers['content-encoding']).toBeUndefined();
  });
});

describe('bytes on the wire', () => {
  const answerTo = async (
    sent: string | Buffer,
  ): Promise<{ head: string; error: Reply['error'] | undefined }> => {
    const own = await stack.api();
    await own.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((own.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    const read = JSON.parse(body) as Pick<Reply, 'error'>;
    if ('error' in read) ErrorBody.parse(read);
    return { head, error: read.error };
  };
  test('that are not HTTP get 400 with the error body of the contract', async () => {
    const { head, error } = await answerTo('NONSENSE\r\n\r\n');
    expect(head).toContain('HTTP/1.1 400');
    expect(error).toMatchObject({ type: 'bad_request', status: 400, details: [{ code: 'not_http' }] });
    expect(head).toContain((error as { request_id?: string } | undefined)?.request_id);
  });
  test('with headers that are too large get 431 with what to do', async () => {
    const { head, error } = await answerTo(
      `GET /v1/me HTTP/1.1\r\nhost: a\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expect(head).toContain('HTTP/1.1 431');
    expect(error).toMatchObject({ status: 431, details: [{ code: 'headers_too_large' }] });
  });
  test('without a Host header get 400 with the error body of the contract', async () => {
    const { text: key } = await stack.key();
    const { head, error } = await answerTo(
      `GET /v1/me HTTP/1.1\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
    );
    expect(head).toContain('HTTP/1.1 400');
    expect(error).toMatchObject({ type: 'bad_request', details: [{ path: 'host' }] });
  });
  test.each([
    ['a content type that is none', 'content-type: /\r\ncontent-length: 2', 'fst_err_ctp_invalid_media_type'],
    ['a body that is not UTF-8', 'content-type: application/json\r\ncontent-length: 2', 'invalid_utf8'],
  ])('with %s get the code of the fault', async (_name, headers, code) => {
    const { text: key, workspaceId } = await stack.key();
    const { error } = await answerTo(
      Buffer.from(
        `POST /v1/workspaces/${workspaceId}/saved HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n${headers}\r\n\r\n\xff\xff`,
        'latin1',
      ),
    );
    expect(error?.details).toMatchObject([{ code }]);
  });
  test('with an unknown expectation are served as if it were absent', async () => {
    const { text: key } = await stack.key();
    const { head, error } = await answerTo(
      `GET /v1/me HTTP/1.1\r\nhost: a\r\nexpect: wonders\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
    );
    expect([head.slice(0, 12), error]).toEqual(['HTTP/1.1 200', undefined]);
  });
});

describe('the contract', () => {
  test('is served with the base URL of this service', async () => {
    const reply = await app.inject({ method: 'GET', url: '/v1/openapi.json' });
    expect(reply.json()).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      servers: [{ url: BASE_URL }],
    });
  });
  test('is shown by a page whose scripts are served by this service', async () => {
    const page = await app.inject({ method: 'GET', url: '/docs/' });
    expect(page.statusCode).toBe(200);
    const scripts = [...page.body.matchAll(/<script[^>]*\ssrc="([^"]+)"/g)].map(([, source]) => source ?? '');
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) {
      expect(script).not.toMatch(/^(https?:)?\/\//);
      const served = await app.inject({ method: 'GET', url: new URL(script, 'http://x/docs/').pathname });
      expect(served.statusCode).toBe(200);
    }
  });
});

describe('the guide', () => {
  const get = (url: string) => app.inject({ method: 'GET', url });

  test('is a part of the reference page, whose links lead to its headings', async () => {
    const { description } = (await get('/v1/openapi.json')).json<{ info: { description: string } }>().info;
    const headings = [...description.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...description.matchAll(/\]\(#description\/([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((anchor) => !headings.includes(anchor))).toEqual([]);
    expect(description).not.toMatch(/\]\([^)]*\.md/);
  });

  test('and the reference are listed in llms.txt and served as Markdown, with every endpoint', async () => {
    const index = await get('/llms.txt');
    expect(index.headers['content-type']).toBe('text/plain; charset=utf-8');
    const links = [...index.body.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !link.startsWith(`${BASE_URL}/`))).toEqual([]);
    const pages = await Promise.all(links.map((link) => get(link.slice(BASE_URL.length))));
    expect(pages.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
    const markdown = pages.filter(
      ({ headers }) => headers['content-type'] === 'text/markdown; charset=utf-8',
    );
    expect(markdown).toHaveLength(links.length - 1);
    const served = markdown.map(({ body }) => body).join('\n');
    for (const { method, path } of ENDPOINTS) expect(served).toContain(`\n## ${method} ${path}\n`);
  });

  test('has no other pages', async () => {
    const { statusCode, body } = await get('/docs/guide/other.md');
    expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error: { type: 'not_found' } }]);
  });

  test('is found by the catalogue of this address', async () => {
    const catalogue = await get('/.well-known/api-catalog');
    expect(catalogue.headers['content-type']).toBe('application/linkset+json');
    const [links] = catalogue.json<{ linkset: Record<string, { href: string }[]>[] }>().linkset;
    const hrefs = ['service-desc', 'service-doc'].flatMap(
      (name) => links?.[name]?.map(({ href }) => href) ?? [],
    );
    expect(hrefs).toHaveLength(3);
    for (const href of hrefs) expect((await get(href.slice(BASE_URL.length))).statusCode, href).toBe(200);
  });
});

describe('a deprecated endpoint', () => {
  const deprecated = {
    since: '2027-01-31',
    sunset: '2027-07-31',
    successor: 'https://ads.example/docs#getAccount',
  };
  const told = {
    deprecation: '@1801353600',
    sunset: 'Sat, 31 Jul 2027 00:00:00 GMT',
    link: '<https://ads.example/docs#getAccount>; rel="successor-version"',
  };
  const endpoints = ENDPOINTS.map((one) => (one.path === '/v1/me' ? { ...one, deprecated } : one));

  test('says so with every reply, and no other endpoint does', async () => {
    const deprecating = await stack.api({ endpoints });
    const headersOf = async (url: string, key?: Key): Promise<unknown> => {
      const authorization = `Bearer ${key?.text}`;
      const { headers } = await deprecating.inject({ url, headers: { authorization } });
      return Object.fromEntries(Object.entries(headers).filter(([name]) => name in told));
    };
    const key = await stack.key();
    expect(await headersOf('/v1/me', key)).toEqual(told);
    expect(await headersOf('/v1/me')).toEqual(told);
    expect(await headersOf('/v1/system/freshness', key)).toEqual({});
  });

  test('is marked in the document with its end and what replaces it', () => {
    const { paths, components } = openApiDocument('/', endpoints) as {
      readonly paths: Record<string, Record<string, Record<string, unknown>>>;
      readonly components: { readonly headers: object };
    };
    expect(paths['/v1/me']?.['get']).toMatchObject({
      deprecated: true,
      description: expect.stringContaining(
        'Deprecated since 2027-01-31: use https://ads.example/docs#getAccount. From 2027-07-31 on it may be gone.',
      ),
      responses: { 200: { headers: { sunset: { $ref: '#/components/headers/sunset' } } } },
    });
    expect(components.headers).toHaveProperty('sunset');
    expect(paths['/v1/system/freshness']?.['get']).not.toHaveProperty('deprecated');
  });
});

describe('keys', () => {
  test('work in every process right after they are issued, also while the projector is stopped', async () => {
    const own = await openApiStack();
    try {
      const [one, other] = await Promise.all([own.api(), own.api()]);
      // The projector is needed only until the read models exist.
      await own.seed([]);
      await own.stopProjector();
      const key = await own.key();
      expect((await on(one).get('/v1/me', { key })).status).toBe(200);
      expect((await on(other).get('/v1/me', { key })).status).toBe(200);
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });

  test('are rejected by every process right after their revocation, even when in constant use', async () => {
    const servers = await Promise.all([stack.api(), stack.api(), stack.api()]);
    const key = await stack.key({ plan: 'enterprise' });
    let revoked = false;
    const sinceRevoked: number[] = [];
    const hammer = servers.map(async (server) => {
      for (let after = 0; after < 20; ) {
        const sentAfter = revoked;
        const { status } = await on(server).get('/v1/system/freshness', { key });
        if (sentAfter) {
          sinceRevoked.push(status);
          after += 1;
        } else {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    });
    await stack.revoke(key);
    revoked = true;
    await Promise.all(hammer);
    expect(new Set(sinceRevoked)).toEqual(new Set([401]));
  });

  test('keep working after the access tables are dropped and rebuilt from the log', async () => {
    const own = await openApiStack();
    try {
      const server = await own.api();
      const key = await own.key();
      await own.pool.query(
        'truncate access.stream, access.checkpoint, access.workspace, access.member, access.api_key',
      );
      await using follower = startAccessSubscription(own.pool, own.eventStore, silentLog());
      await follower.filled;
      expect((await on(server).get('/v1/me', { key })).status).toBe(200);
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });

  test('lose the scopes that a lowered role of their member no longer allows', async () => {
    const key = await stack.key({ role: 'viewer', scopes: ['me:read', 'brands:read'] });
    const path = `/v1/workspaces/${key.workspaceId}/tracked-brands`;
    expect((await on(app).post(path, { key, body: {} })).status).toBe(403);
  });
});

describe('rate limits', () => {
  test('of one key are counted across all processes', async () => {
    const key = await stack.key({ plan: 'free' });
    const minute = { now: () => new Date('2026-11-20T12:00:30.000Z') };
    const name = randomUUID();
    const open = () => stack.api({ clock: minute, countingGroup: name });
    const [one, other] = await Promise.all([open(), open()]);
    const answered = 60;
    for (let count = 0; count < answered; count += 1)
      expect((await on(one).get('/v1/me', { key })).status).toBe(200);
    // The requests of this loop count too, so they are subtracted.
    let asked = 0;
    const ofTheOther = async (): Promise<number> => {
      const { headers } = await on(other).get('/v1/me', { key });
      asked += 1;
      return Number(headers['x-ratelimit-limit']) - Number(headers['x-ratelimit-remaining']) - asked;
    };
    await expect.poll(ofTheOther, { timeout: 60_000, interval: 500 }).toBe(answered);
  });
});
