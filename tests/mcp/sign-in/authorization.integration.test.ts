import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectionEvent } from '#contracts/events/workspace/connection.ts';
import { connectionStream } from '#contracts/events/workspace/connection.ts';
import { systemClock } from '#platform/clock.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { sha256Of } from '#application/access/key-format.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { registry } from '#platform/telemetry/metrics.ts';
import { resourceOf } from '#services/mcp/sign-in/provider.ts';
import { createVerifyAccessToken } from '#services/mcp/sign-in/verify-access-token.ts';
import { type Connections, createConnections } from '#services/mcp/sign-in/connections.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import {
  ALLOWED_ORIGIN,
  callMcp,
  clientIdOf,
  errorOf,
  openBrowser,
  openClient,
  openServer,
  post,
  register,
  REDIRECT,
  type Server,
  type Tokens,
} from './fixtures/authorization-server.ts';

let stack: ApiStack;
let key: Key;
let connections: Connections;
/** Two services with addresses of their own. They share the secret and the database. */
let servers: readonly [Server, Server];
let tokensOfSecond: ReturnType<typeof openReadDatabase>;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  servers = [
    resources.use(await openServer(stack, connections)),
    resources.use(await openServer(stack, connections)),
  ];
  key = await stack.key();
  tokensOfSecond = resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? ''));
  await stack.stopProjector();
});
afterAll(() => resources.disposeAsync());

const connect = async (answer: Partial<Server['answer']> = {}, scope = 'brands:read ads:read') => {
  const [server] = servers;
  const { baseUrl } = server;
  const clientId = await clientIdOf(await register(baseUrl));
  const client = openClient(clientId, { baseUrl });
  server.answer = { key, scopes: 'all', ...answer };
  const back = await client.ask(openBrowser(), client.address({ scope }));
  const code = back.searchParams.get('code') ?? '';
  const response = await client.exchange(baseUrl, code);
  expect(response.status).toBe(200);
  return { client, clientId, code, back, tokens: (await response.json()) as Tokens };
};
const call = (server: Server, token: string) => callMcp(server.baseUrl, token);

const readShownDocuments = async (): Promise<readonly unknown[]> => {
  const text = await readFile(join(import.meta.dirname, '../../../services/mcp/README.md'), 'utf8');
  return [...text.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json));
};

describe('metadata', () => {
  test('is what the README shows', async () => {
    const [{ baseUrl }] = servers;
    const read = async (name: string): Promise<unknown> => {
      const text = await (await fetch(`${baseUrl}/.well-known/${name}`)).text();
      return JSON.parse(text.replaceAll(baseUrl, 'https://mcp.ads.example'));
    };
    const server = await read('oauth-authorization-server');
    expect(await readShownDocuments()).toEqual([await read('oauth-protected-resource/mcp'), server]);
    expect(await read('openid-configuration')).toEqual(server);
  });

  test.each([
    ['/.well-known/oauth-protected-resource', 'GET'],
    ['/.well-known/oauth-protected-resource/mcp', 'GET'],
    ['/.well-known/oauth-authorization-server', 'GET'],
    ['/.well-known/openid-configuration', 'GET'],
    ['/oauth/token', 'POST'],
    ['/oauth/revoke', 'POST'],
    ['/oauth/register', 'POST'],
  ])('answers preflights of a browser client: %s', async (path, method) => {
    const [{ baseUrl }] = servers;
    const requested = 'content-type,mcp-protocol-version';
    const headers = {
      origin: ALLOWED_ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': requested,
    };
    const preflight = await fetch(baseUrl + path, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(['*', ALLOWED_ORIGIN]).toContain(preflight.headers.get('access-control-allow-origin'));
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
    if (allowed !== '*') for (const name of requested.split(',')) expect(allowed).toContain(name);
    const reply = await fetch(baseUrl + path, { method, headers: { origin: ALLOWED_ORIGIN } });
    expect(['*', ALLOWED_ORIGIN]).toContain(reply.headers.get('access-control-allow-origin'));
  });

  test('leads from the resource to its authorization server and to every endpoint', async () => {
    const [{ baseUrl }] = servers;
    for (const path of ['', '/mcp']) {
      const response = await fetch(`${baseUrl}/.well-known/oauth-protected-resource${path}`);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const resource = (await response.json()) as Record<string, string[]>;
      expect(resource).toMatchObject({
        resource: `${baseUrl}/mcp`,
        authorization_servers: [baseUrl],
      });
      expect(resource['scopes_supported']).toContain('brands:read');
      expect(resource['scopes_supported']).not.toContain('apiKeys:read');
    }
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const response = await fetch(`${baseUrl}/.well-known/${name}`);
      const metadata = (await response.json()) as Record<string, string[]>;
      expect(metadata['scopes_supported']).toContain('brands:read');
      expect(metadata['scopes_supported']).not.toContain('openid');
      expect(metadata).toMatchObject({
        issuer: baseUrl,
        authorization_endpoint: `${baseUrl}/oauth/authorize`,
        token_endpoint: `${baseUrl}/oauth/token`,
        registration_endpoint: `${baseUrl}/oauth/register`,
        revocation_endpoint: `${baseUrl}/oauth/revoke`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
      });
    }
  });
});

describe('a member who allows an app', () => {
  test('gives it a token that is good at this address alone', async () => {
    const { tokens, back } = await connect();
    expect(back.origin + back.pathname).toBe(REDIRECT);
    expect(back.searchParams.get('iss')).toBe(servers[0].baseUrl);
    expect(tokens).toMatchObject({ scope: 'brands:read ads:read', expires_in: 3_600 });
    expect((await call(servers[0], tokens.access_token)).status).toBe(200);
    // The token is for the first address; the second is another resource.
    expect((await call(servers[1], tokens.access_token)).status).toBe(401);
    const api = await stack.api();
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await api.inject({ url: '/v1/me', headers })).statusCode).toBe(401);
  });

  test('grants only what was ticked, without being asked again', async () => {
    const { tokens } = await connect({ scopes: ['brands:read'] });
    expect(tokens.scope).toBe('brands:read');
  });

  test('is asked for all reads when the app names no scope of the service', async () => {
    const { tokens } = await connect({}, 'openid profile');
    expect(tokens.scope.split(' ')).toContain('briefs:read');
    expect(tokens.scope).not.toContain('write');
  });
});

const rowOf = async (clientId: string) => {
  const found = (await connections.list({ workspaceId: key.workspaceId })).find(
    ({ app }) => app.id === clientId,
  );
  if (!found) throw new Error('no connection of this app');
  return found;
};
const lastEventOf = async (connectionId: string): Promise<ConnectionEvent | undefined> => {
  const events: ConnectionEvent[] = [];
  const stream = connectionStream(key.workspaceId, connectionId);
  for await (const event of stack.eventStore.read<ConnectionEvent>(stream)) events.push(event);
  return events.at(-1);
};

describe('a connection', () => {
  test('ends for every process when an admin ends it, and gives no new token', async () => {
    const { tokens, clientId, client } = await connect();
    const address = servers[0].baseUrl;
    // A second process of the same address, with leases of its own.
    const second = createVerifyAccessToken(tokensOfSecond, resourceOf(address));
    expect(await second(tokens.access_token)).not.toBeNull();
    expect((await call(servers[0], tokens.access_token)).status).toBe(200);
    await connections.endAs(await rowOf(clientId), 'admin', { kind: 'member', id: key.memberId });
    const refused = await call(servers[0], tokens.access_token);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      `${address}/.well-known/oauth-protected-resource`,
    );
    expect(await second(tokens.access_token)).toBeNull();
    const refreshed = await client.refresh(address, tokens.refresh_token ?? '');
    expect(await errorOf(refreshed)).toEqual([400, 'invalid_grant']);
  });

  test('ends when the app gives its token back', async () => {
    const { tokens, clientId } = await connect();
    const { connection_id } = await rowOf(clientId);
    const form = { token: tokens.refresh_token ?? '', client_id: clientId };
    expect((await post(servers[0].baseUrl, '/oauth/revoke', form)).status).toBe(200);
    expect((await call(servers[0], tokens.access_token)).status).toBe(401);
    expect((await lastEventOf(connection_id))?.data).toMatchObject({ reason: 'member' });
  });

  test('does not end when another app sends its token', async () => {
    const { tokens } = await connect();
    const { baseUrl } = servers[0];
    const other = await clientIdOf(await register(baseUrl));
    await post(baseUrl, '/oauth/revoke', { token: tokens.access_token, client_id: other });
    expect((await call(servers[0], tokens.access_token)).status).toBe(200);
  });

  test('is one of several of the same app: a new one ends none', async () => {
    const first = await connect();
    const [server] = servers;
    const again = openClient(first.clientId, { baseUrl: server.baseUrl });
    const back = await again.ask(openBrowser(), again.address());
    const response = await again.exchange(server.baseUrl, back.searchParams.get('code') ?? '');
    const { access_token } = (await response.json()) as Tokens;
    expect((await call(server, access_token)).status).toBe(200);
    expect((await call(server, first.tokens.access_token)).status).toBe(200);
  });
});

describe('a refresh token', () => {
  test('is exchanged at each use; two exchanges at once both succeed, and a later one ends the connection', async () => {
    const { tokens, clientId, client } = await connect();
    const { baseUrl } = servers[0];
    const { connection_id } = await rowOf(clientId);
    const old = tokens.refresh_token ?? '';
    const replies = await Promise.all([client.refresh(baseUrl, old), client.refresh(baseUrl, old)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const renewed = (await replies[0]?.json()) as Tokens;
    const counted = await registry.getSingleMetricAsString('adintel_mcp_tokens_total');
    expect(Number(/grant="refresh_token"} (\d+)/.exec(counted)?.[1])).toBeGreaterThanOrEqual(2);
    expect(renewed.refresh_token).not.toBe(old);
    expect((await call(servers[0], renewed.access_token)).status).toBe(200);
    // The grace of the exchanged token passes.
    await stack.pool.query(
      `update oauth.record set consumed_at = consumed_at - interval '31 s'
       where kind = 'RefreshToken' and connection_id = $1`,
      [connection_id],
    );
    expect(await errorOf(await client.refresh(baseUrl, old))).toEqual([400, 'invalid_grant']);
    expect((await call(servers[0], renewed.access_token)).status).toBe(401);
    expect((await lastEventOf(connection_id))?.data).toMatchObject({ reason: 'token_reused' });
  });

  test('lives 30 days from its last use, also for apps on the web', async () => {
    const { baseUrl } = servers[0];
    const redirect = 'https://app.example/callback';
    const web = { redirect_uris: [redirect] };
    const client = openClient(await clientIdOf(await register(baseUrl, web)), { baseUrl, redirect });
    servers[0].answer = { key, scopes: 'all' };
    const back = await client.ask(openBrowser(), client.address());
    const first = (await (
      await client.exchange(baseUrl, back.searchParams.get('code') ?? '')
    ).json()) as Tokens;
    await stack.pool.query(
      `update oauth.record set expires_at = now() + interval '1 day',
         payload = payload || jsonb_build_object('exp', floor(extract(epoch from now()))::int + 86400)
       where kind = 'RefreshToken' and key = $1`,
      [sha256Of(first.refresh_token ?? '')],
    );
    const next = (await (await client.refresh(baseUrl, first.refresh_token ?? '')).json()) as Tokens;
    const { rows } = await stack.pool.query<{ days: number }>(
      `select round(extract(epoch from expires_at - now()) / 86400)::int as days
       from oauth.record where kind = 'RefreshToken' and key = $1`,
      [sha256Of(next.refresh_token ?? '')],
    );
    expect(rows[0]?.days).toBe(30);
  });

  test('cannot widen what the member allowed', async () => {
    const { tokens, client } = await connect({ scopes: ['brands:read'] });
    const change = { scope: 'brands:read notes:write' };
    const reply = await client.refresh(servers[0].baseUrl, tokens.refresh_token ?? '', change);
    expect(await errorOf(reply)).toEqual([400, 'invalid_scope']);
  });
});

describe('an authorization code', () => {
  const asked = async () => {
    const { baseUrl } = servers[0];
    const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
    servers[0].answer = { key, scopes: 'all' };
    const back = await client.ask(openBrowser(), client.address());
    return { baseUrl, client, code: back.searchParams.get('code') ?? '' };
  };

  test('is exchanged once; its second use ends the connection', async () => {
    const { tokens, code, client } = await connect();
    const again = await client.exchange(servers[0].baseUrl, code);
    expect(await errorOf(again)).toEqual([400, 'invalid_grant']);
    expect((await call(servers[0], tokens.access_token)).status).toBe(401);
  });

  test('is worth nothing without its verifier, redirect address, app or resource', async () => {
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { code_verifier: 'x'.repeat(43) },
      { redirect_uri: 'http://127.0.0.1:2/callback' },
      { resource: 'https://other.example/mcp' },
    ];
    for (const change of wrong) {
      const { baseUrl, client, code } = await asked();
      const reply = await client.exchange(baseUrl, code, change);
      expect(reply.status).toBe(400);
      expect(await reply.text()).not.toContain('access_token');
    }
    const { baseUrl, code, client } = await asked();
    const other = await clientIdOf(await register(baseUrl));
    expect((await client.exchange(baseUrl, code, { client_id: other })).status).toBe(400);
  });
});
