import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addClient,
  createAuthorizationTables,
  removeClient,
} from '#application/sign-in/authorization-tables.ts';
import { systemClock } from '#platform/clock.ts';
import { READ_SCOPES_OFFERED } from '#services/mcp/http/guards.ts';
import { type Connections, createConnections } from '#services/mcp/sign-in/connections.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import {
  callMcp,
  clientIdOf,
  errorOf,
  openBrowser,
  openClient,
  openServer,
  REDIRECT,
  register,
  type Server,
  type Tokens,
} from './fixtures/authorization-server.ts';

let stack: ApiStack;
let key: Key;
let connections: Connections;
let server: Server;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  server = resources.use(await openServer(stack, connections));
  key = await stack.key();
  await stack.stopProjector();
});
afterAll(() => resources.disposeAsync());

describe('a request of an app', () => {
  test('that may lead elsewhere is shown as an error page, without a redirect', async () => {
    const { baseUrl } = server;
    const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
    const addresses = [
      client.address({ redirect_uri: 'https://evil.example/callback' }),
      client.address({ client_id: 'unknown' }),
      client.address({ client_id: 'https://127.0.0.1/app.json' }),
    ];
    for (const address of addresses) {
      const response = await openBrowser().visit(address);
      expect(response.status).toBe(400);
      expect(response.headers.get('location')).toBeNull();
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });

  test('without PKCE, with another method, or for another resource goes back with an error', async () => {
    const { baseUrl } = server;
    const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
    const cases: readonly [Readonly<Record<string, string | null>>, string][] = [
      [{ code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
    ];
    for (const [change, error] of cases) {
      const back = await client.ask(openBrowser(), client.address(change));
      expect(back.searchParams.get('error') ?? new URLSearchParams(back.hash.slice(1)).get('error')).toBe(
        error,
      );
    }
  });

  test('without a scope and a resource is one for all reads of this service', async () => {
    const { baseUrl } = server;
    const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
    server.answer = { key, scopes: 'all' };
    const back = await client.ask(openBrowser(), client.address({ scope: null, resource: null }));
    const code = back.searchParams.get('code') ?? '';
    const { access_token, scope } = (await (await client.exchange(baseUrl, code)).json()) as Tokens;
    expect(scope.split(' ').toSorted()).toEqual([...READ_SCOPES_OFFERED].toSorted());
    expect((await callMcp(baseUrl, access_token)).status).toBe(200);
  });

  test('may return to another port of the same computer, and fails when the member denies it', async () => {
    const { baseUrl } = server;
    const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
    server.answer = { key, scopes: 'deny' };
    const other = 'http://127.0.0.1:9/callback';
    const back = await client.ask(openBrowser(), client.address({ redirect_uri: other }));
    expect(back.port).toBe('9');
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  test('is known by the word of an operator until the app is removed', async () => {
    const { baseUrl } = server;
    await addClient(stack.pool, { client_id: 'house', name: 'House', redirect_uris: [REDIRECT] });
    server.answer = { key, scopes: 'all' };
    const client = openClient('house', { baseUrl });
    const back = await client.ask(openBrowser(), client.address());
    const tokens = (await (
      await client.exchange(baseUrl, back.searchParams.get('code') ?? '')
    ).json()) as Tokens;
    expect(await removeClient(stack.pool, 'house')).toEqual({ removed: true });
    const reply = await client.refresh(baseUrl, tokens.refresh_token ?? '');
    expect(await errorOf(reply)).toEqual([401, 'invalid_client']);
    for (const client_id of ['reg_mine', 'https://app.example/app.json', 'a b']) {
      const adding = addClient(stack.pool, { client_id, name: 'x', redirect_uris: [REDIRECT] });
      await expect(adding).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});

describe('registration', () => {
  test('refuses what no app may have', async () => {
    const { baseUrl } = server;
    const refused: readonly object[] = [
      { redirect_uris: [] },
      { redirect_uris: Array.from({ length: 11 }, (_, port) => `http://127.0.0.1:${port + 1}/`) },
      { redirect_uris: ['http://app.example/callback'] },
      { redirect_uris: ['javascript:alert(1)'] },
      { redirect_uris: ['not an address'] },
      { client_name: 'x'.repeat(201) },
    ];
    for (const metadata of refused) {
      const [status, error] = await errorOf(await register(baseUrl, metadata));
      expect([status, error.startsWith('invalid_')], JSON.stringify(metadata)).toEqual([400, true]);
    }
    const large = await register(baseUrl, { software_statement: 'x'.repeat(17_000) });
    expect(large.status).toBe(413);
    const foreign = await register(baseUrl, {}, { origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
  });

  test('drops scopes and everything else that an app could claim', async () => {
    const claims = {
      scope: 'notes:write',
      client_id: 'house',
      sector_identifier_uri: 'https://evil.example',
    };
    const registered = (await (await register(server.baseUrl, claims)).json()) as Record<string, unknown>;
    expect(registered['client_id']).toMatch(/^reg_/);
    expect(registered).not.toHaveProperty('scope');
    expect(registered).not.toHaveProperty('sector_identifier_uri');
  });

  test('is limited per address and minute', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 21; count += 1) {
      const reply = await register(server.baseUrl, { redirect_uris: [] }, { from: '192.0.2.1' });
      statuses.push(reply.status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 400));
    expect(statuses[20]).toBe(429);
  });

  test('and every other request to the authorization server are limited per address and minute', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.2' };
    const ask = async () => (await fetch(`${server.baseUrl}/oauth/jwks`, { headers })).status;
    const statuses = await Promise.all(Array.from({ length: 61 }, ask));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    const refused = await fetch(`${server.baseUrl}/oauth/jwks`, { headers });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});

test('behind a proxy that ends TLS, metadata names https and cookies are secure', async () => {
  const baseUrl = 'https://mcp.test';
  await using behind = await openServer(stack, connections, { baseUrl });
  const headers = { host: 'mcp.test', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example' };
  const get = (url: string) => behind.app.inject({ url, headers });
  const metadata: Record<string, string> = (await get('/.well-known/oauth-authorization-server')).json();
  expect(metadata).toMatchObject({ issuer: baseUrl, token_endpoint: `${baseUrl}/oauth/token` });
  expect(JSON.stringify(metadata)).not.toMatch(/http:|evil/);
  const client = openClient(await clientIdOf(await register(server.baseUrl)), { baseUrl });
  const asked = new URL(client.address());
  const begun = await get(`${asked.pathname}${asked.search}`);
  expect(begun.statusCode).toBe(303);
  const cookies = [begun.headers['set-cookie'] ?? []].flat();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) {
    expect(cookie.toLowerCase()).toMatch(/; secure/);
    expect(cookie.toLowerCase()).toMatch(/; httponly/);
    expect(cookie.toLowerCase()).toMatch(/; samesite=lax/);
  }
});

test('a browser goes on with its request while the secret changes', async () => {
  const old = 'an older secret of 32 characters ....';
  const secret = 'a newer secret of 32 characters ....';
  const first = await openServer(stack, connections, { secrets: [old] });
  const { baseUrl } = first;
  const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
  const browser = openBrowser();
  const begun = await browser.visit(client.address());
  await first[Symbol.asyncDispose]();
  await using second = await openServer(stack, connections, { secrets: [secret, old], baseUrl });
  second.answer = { key, scopes: 'all' };
  const page = new URL(begun.headers.get('location') ?? '', baseUrl).href;
  const back = await client.ask(browser, page);
  expect(back.searchParams.get('code')).not.toBeNull();
});
