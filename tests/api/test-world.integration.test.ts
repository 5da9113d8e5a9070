import type { FastifyInstance } from 'fastify';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { request as send } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { LIVE_KEY, TEST_KEY, sha256Of } from '#application/access/key-format.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { createLinkSigner, createMediaLinks } from '#operations/dependencies/links.ts';
import { openTestWorkspace } from '#services/ops/test-world.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openLoopbackChannels, openReceiver, verifySignatures } from '#tests/operations/fixtures/alerting.ts';
import {
  type ApiStack,
  BASE_URL,
  type Key,
  openApiStack,
  VAULT_KEY,
} from '#tests/operations/fixtures/stack.ts';

const { api_key: KEY, workspace_id: WORKSPACE } = TEST_WORLD;
const BRANDS = Array.from({ length: 210 }, (_, index) => `test-${String(index).padStart(3, '0')}`);
const WORLD_SECRET = 'the secret of the test world';

let live: ApiStack;
let world: ApiStack;
/** Passes test keys on to `worldApp`. */
let app: FastifyInstance;
let worldApp: FastifyInstance;
let url: string;
let worldUrl: string;
let liveKey: Key;

const listen = (one: FastifyInstance): Promise<string> => one.listen({ host: '127.0.0.1', port: 0 });

const openWorkspace = async (testMode = true) =>
  openTestWorkspace({
    ...world,
    actor: { kind: 'service', id: 'tests' },
    testMode,
    memberVault: await openMemberVault(world.pool, VAULT_KEY),
    secretVault: await openSecretVault(world.pool, VAULT_KEY),
  });

beforeAll(async () => {
  [live, world] = await Promise.all([
    openApiStack().then(disposeAfterAll),
    openApiStack().then(disposeAfterAll),
  ]);
  [worldApp, liveKey] = await Promise.all([
    world.api({ testMode: true, downloadSecret: WORLD_SECRET, alertChannels: openLoopbackChannels() }),
    live.key(),
    openWorkspace(),
    world.seed(BRANDS),
  ]);
  worldUrl = await listen(worldApp);
  app = await live.api({ testWorldUrl: worldUrl, corsOrigins: ['https://page.example'] });
  url = await listen(app);
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('a key', () => {
  test('of the test world is refused with the reason where there is none', async () => {
    const alone = await live.api();
    const { status, error } = await on(alone).get('/v1/me', { key: KEY });
    expect(status).toBe(401);
    expect(error.message).toContain('belongs to a test world, and this installation has none');
  });

  test('of a customer is refused with the reason by a test world', async () => {
    const { status, error } = await on(worldApp).get('/v1/me', { key: LIVE_KEY.create() });
    expect(status).toBe(401);
    expect(error.message).toContain('This is a test world');
  });

  test('that a test world creates is a test key, that of another installation a live one', async () => {
    const create = async (one: FastifyInstance, ws: string, key: string) => {
      const body = { name: 'made', scopes: ['me:read'] };
      return (await on(one).post(`/v1/workspaces/${ws}/api-keys`, { key, body })).data as { api_key: string };
    };
    const { api_key } = await create(worldApp, WORKSPACE, KEY);
    expect(TEST_KEY.isValid(api_key)).toBe(true);
    expect((await on(app).get('/v1/me', { key: api_key })).status).toBe(200);
    expect(LIVE_KEY.isValid((await create(app, liveKey.workspaceId, liveKey.text)).api_key)).toBe(true);
  });
});

describe('the public workspace', () => {
  test('is made in a test world only, and a second time changes nothing', async () => {
    await expect(openWorkspace(false)).rejects.toThrow('TEST_MODE');
    const before = await on(worldApp).get('/v1/me', { key: KEY });
    expect(await openWorkspace()).toMatchObject({ workspace_id: WORKSPACE, api_key: KEY });
    expect((await on(worldApp).get('/v1/me', { key: KEY })).data).toEqual(before.data);
  });

  test('signs with the secret of the guide, also after a rotation and the next start', async () => {
    const receiver = await openReceiver().then(disposeAfterAll);
    const key = { workspaceId: WORKSPACE, memberId: '', keyId: '', text: KEY };
    const brands = (await on(worldApp).get('/v1/brands?limit=1', { key: KEY })).data as { id: string }[];
    const rules = `/v1/workspaces/${WORKSPACE}`;
    await on(worldApp).post(`${rules}/tracked-brands`, { key: KEY, body: { brand_id: brands[0]?.id } });
    const body = {
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [brands[0]?.id],
      webhook_url: receiver.url,
    };
    const { data } = await on(worldApp).post(`${rules}/alerts`, { key: KEY, body });
    expect(data).toHaveProperty('webhook_secret', null);
    const { id } = data as { id: string };
    const sample = async () => {
      await on(app).post(`${rules}/alerts/${id}/test`, { key: key.text, body: {} });
      const got = receiver.received.at(-1);
      if (got === undefined) throw new Error('nothing received');
      await verifySignatures(got, TEST_WORLD.webhook_secret);
      return got.body;
    };
    const moving = (one: string): string =>
      one
        .replaceAll(/"(id|created_at|observed_at|as_of)":"[^"]*"/g, '"$1":""')
        .replaceAll(/delivery_id=[^"&]*/g, '');
    const first = await sample();
    await on(worldApp).post(`${rules}/alerts/webhook-secret`, { key: KEY, body: {} });
    await openWorkspace();
    await expect
      .poll(async () => sample().then(moving, (error: unknown) => String(error)))
      .toBe(moving(first));
  });
});

describe('a request with a test key', () => {
  test('is answered as the test world answers it, and a live key stays here', async () => {
    const asked = `/v1/brands?limit=5&sort=name`;
    const direct = await on(worldApp).get(asked, { key: KEY });
    const passed = await on(app).get(asked, { key: KEY });
    expect(passed.data).toEqual(direct.data);
    expect((passed.data as object[]).length).toBe(5);
    expect((await on(app).get(asked, { key: liveKey })).data).toEqual([]);
    const { rows } = await live.pool.query('select from access.api_key where sha256 = $1', [sha256Of(KEY)]);
    expect(rows).toEqual([]);
  });

  test('reads what it wrote, repeats by its idempotency key, and gets refusals of its input', async () => {
    const path = `/v1/workspaces/${WORKSPACE}/collections`;
    const write = { key: KEY, body: { name: 'Übersee' }, headers: { 'idempotency-key': 'once' } };
    const first = await on(app).post(path, write);
    expect(first.status).toBe(201);
    const again = await on(app).post(path, write);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.data).toEqual(first.data);
    const read = await on(app).get(path, {
      key: KEY,
      headers: { 'min-position': String(first.headers['x-read-position']) },
    });
    expect(read.data).toEqual([first.data]);
    expect((await on(app).post(path, { key: KEY, body: { nam: 1 } })).error.details).toHaveLength(2);
    expect((await on(app).post(path, { key: KEY, body: '{"name":' })).status).toBe(400);
    expect((await on(app).post(path, { key: KEY, body: `"${'x'.repeat(70_000)}"` })).status).toBe(413);
    expect((await on(app).get('/v1/nowhere', { key: KEY })).status).toBe(404);
    expect((await on(app).get(`/v1/workspaces/${liveKey.workspaceId}/notes`, { key: KEY })).status).toBe(404);
    expect((await on(app).get('/v1/me', { key: TEST_KEY.create() })).status).toBe(401);
  });

  test('keeps HEAD, OPTIONS, conditions, compression and rows of a list as they are', async () => {
    const path = `${url}/v1/brands?limit=100`;
    const headers = bearer(KEY);
    const whole = await send(path, { headers });
    const length = (await buffer(whole.body)).length;
    const head = await send(path, { method: 'HEAD', headers });
    expect(head.statusCode).toBe(200);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(length - 20);
    expect(await text(head.body)).toBe('');
    const same = await send(path, {
      headers: { ...headers, 'if-none-match': String(whole.headers['etag']) },
    });
    expect([same.statusCode, await text(same.body)]).toEqual([304, '']);
    const packed = await send(path, { headers: { ...headers, 'accept-encoding': 'gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers['vary']).toBe('origin, accept-encoding');
    const read = JSON.parse(gunzipSync(await buffer(packed.body)).toString()) as { data: object[] };
    expect(read.data).toHaveLength(100);
    const options = await send(path, { method: 'OPTIONS', headers });
    expect(options.headers['allow']).toBe('GET, HEAD, OPTIONS');
    const rows = await send(`${url}/v1/brands`, { headers: { ...headers, accept: 'application/x-ndjson' } });
    expect((await text(rows.body)).trimEnd().split('\n')).toHaveLength(BRANDS.length);
    expect(rows.headers['trailer']).toBe('x-next-cursor');
    const fromPage = await send(path, { headers: { ...headers, origin: 'https://page.example' } });
    await fromPage.body.dump();
    expect(fromPage.headers['access-control-allow-origin']).toBe('https://page.example');
  });

  test('passes the end of a cut list on', async () => {
    const cut = await world.api({ testMode: true, rowsMax: 200 });
    const passing = await listen(await live.api({ testWorldUrl: await listen(cut) }));
    const rows = await send(`${passing}/v1/brands`, {
      headers: { ...bearer(KEY), accept: 'application/x-ndjson' },
    });
    expect((await text(rows.body)).trimEnd().split('\n')).toHaveLength(200);
    expect(rows.trailers).toHaveProperty('x-next-cursor');
  });

  test('opens the signed files of the test world', async () => {
    const links = createMediaLinks(createLinkSigner(WORLD_SECRET), url);
    const reply = await fetch(links.sign('0'.repeat(64), new Date()));
    expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining('not stored here')]);
    const altered = createMediaLinks(createLinkSigner('another secret'), url);
    expect((await fetch(altered.sign('0'.repeat(64), new Date()))).status).toBe(403);
  });
});

describe('the way to the test world', () => {
  type Seen = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly host: string };

  /** Answers as `answer` says, and remembers what it was asked. */
  const standIn = async (status: number, headers: Readonly<Record<string, string>>, hang = false) => {
    const seen: Seen[] = [];
    const server = createServer((request, response) => {
      seen.push({ path: request.url ?? '', headers: request.headers, host: request.headers.host ?? '' });
      if (!hang) response.writeHead(status, headers).end(status === 304 ? '' : '{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await disposeAfterAll({
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    });
    const { port } = server.address() as AddressInfo;
    const passing = await live.api({
      testWorldUrl: `http://127.0.0.1:${port}`,
      readAnswerMs: 300,
      refusedPerMinute: 3,
    });
    return { seen, server, passing: await listen(passing), own: `127.0.0.1:${port}` };
  };

  test('carries named headers only, and the address of the client', async () => {
    const { seen, passing, own } = await standIn(200, {
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'x-ratelimit-limit': '7',
      connection: 'x-secret',
      'x-secret': '1',
    });
    const reply = await send(`${passing}/v1/me`, {
      headers: {
        ...bearer(KEY),
        cookie: 'session=1',
        origin: 'https://page.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-for': '203.0.113.9',
        'x-request-id': 'request-0001',
        te: 'trailers',
      },
    });
    await reply.body.dump();
    expect(reply.headers).toMatchObject({ 'x-ratelimit-limit': '7' });
    for (const name of ['set-cookie', 'access-control-allow-origin', 'x-secret'])
      expect(reply.headers).not.toHaveProperty(name);
    const [{ headers, host } = { headers: {}, host: '' }] = seen;
    expect(host).toBe(own);
    expect(headers).toMatchObject({
      ...bearer(KEY),
      'x-forwarded-for': '127.0.0.1',
      'x-request-id': 'request-0001',
    });
    for (const name of ['cookie', 'origin', 'x-forwarded-host', 'te'])
      expect(headers).not.toHaveProperty(name);
  });

  test('leads nowhere else: no redirect, no other host or path, no live key', async () => {
    const { seen, passing } = await standIn(302, { location: 'http://127.0.0.1:1/' });
    const redirected = await send(`${passing}/v1/me`, { headers: bearer(KEY) });
    expect([redirected.statusCode, redirected.headers['location']]).toEqual([302, undefined]);
    expect(seen.splice(0)).toHaveLength(1);
    for (const target of [
      'http://evil.example/v1/me',
      '//evil.example/v1/me',
      '/docs',
      '/healthz',
      '/v1/../x',
      '/%76%31/brands/a?x=/v1/secret',
      '/v1/brands/../ads',
      '/v1/brands/%2e%2e/ads',
    ]) {
      const { hostname, port } = new URL(passing);
      const socket = connect(Number(port), hostname);
      socket.write(
        `GET ${target} HTTP/1.1\r\nhost: evil.example\r\nauthorization: Bearer ${KEY}\r\nconnection: close\r\n\r\n`,
      );
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 \d/);
    }
    for (const { path, host } of seen.splice(0))
      expect([path, host]).toEqual(['/v1/me', expect.not.stringContaining('evil')]);
    await send(`${passing}/v1/me`, { headers: bearer(liveKey.text) });
    const links = createMediaLinks(createLinkSigner('another secret'), passing);
    await send(links.sign('0'.repeat(64), new Date()), { headers: bearer(liveKey.text) });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  test('gets the present address of a brand', async () => {
    const { passing } = await standIn(308, { location: '/v1/brands/alpha' });
    const { headers } = await send(`${passing}/v1/brands/alpha-com`, { headers: bearer(KEY) });
    expect(headers['location']).toBe('/v1/brands/alpha');
  });

  test('ends with 503 when the test world hangs or is gone', async () => {
    const { passing, server } = await standIn(200, {}, true);
    const hung = await send(`${passing}/v1/me`, { headers: bearer(KEY) });
    expect(hung.statusCode).toBe(503);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    const gone = await send(`${passing}/v1/me`, { headers: bearer(KEY) });
    expect(gone.statusCode).toBe(503);
    expect(gone.headers['retry-after']).toBe('3');
    expect(await gone.body.text()).toContain('The test world does not answer.');
  });

  test('closes for an address whose test keys are refused', async () => {
    const { seen, passing } = await standIn(401, {});
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1)
      statuses.push((await send(`${passing}/v1/me`, { headers: bearer(TEST_KEY.create()) })).statusCode);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(seen).toHaveLength(3);
  });
});

test('a test world whose pages are named refuses pages of other origins', async () => {
  const guarded = await world.api({ testMode: true, corsOrigins: [BASE_URL] });
  const from = (one: FastifyInstance, origin: string) =>
    one.inject({ url: '/v1/me', headers: { ...bearer(KEY), origin } });
  expect((await from(guarded, BASE_URL)).statusCode).toBe(200);
  const refused = await from(guarded, 'http://rebound.example:8080');
  expect(refused.statusCode).toBe(403);
  expect(refused.body).toContain('CORS_ORIGINS');
  expect((await from(worldApp, 'null')).statusCode).toBe(403);
});

test('a test world whose pages are named refuses a host whose name was rebound to it', async () => {
  const named = 'https://world.example';
  const guarded = await world.api({ testMode: true, corsOrigins: [named] });
  const at = (host: string) => guarded.inject({ url: '/v1/me', headers: { ...bearer(KEY), host } });
  const own = ['127.0.0.1:8080', 'localhost:8080', '[::1]:8080', new URL(BASE_URL).host, 'world.example'];
  for (const host of own) expect([host, (await at(host)).statusCode]).toEqual([host, 200]);
  for (const host of ['rebound.example:8080', 'localhost.rebound.example']) {
    const refused = await at(host);
    expect([host, refused.statusCode]).toEqual([host, 403]);
    expect(refused.body).toContain('CORS_ORIGINS');
  }
});
