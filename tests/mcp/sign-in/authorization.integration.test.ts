import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { createSignInTables } from '#services/mcp/sign-in/adapter.ts';
import { type Connections, createConnections } from '#services/mcp/sign-in/connections.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import {
  openBrowser,
  openClient,
  openServer,
  register,
  REDIRECT,
  type Server,
  type Tokens,
} from './authorization-server.ts';

let stack: ApiStack;
let key: Key;
let connections: Connections;
/** Two processes of one service, behind one address each. They share the secret and the database. */
let servers: readonly [Server, Server];
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createSignInTables(pool);
  connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  servers = [
    resources.use(await openServer(stack, connections)),
    resources.use(await openServer(stack, connections)),
  ];
  key = await stack.key();
  await stack.stopProjector();
});
afterAll(() => resources.disposeAsync());

const clientIdOf = async (response: Response): Promise<string> => {
  expect(response.status).toBe(201);
  return ((await response.json()) as { client_id: string }).client_id;
};

/** Registers an app, lets the member allow it, and exchanges the code. */
const connect = async (answer: Partial<Server['answer']> = {}, scope = 'brands:read ads:read') => {
  const [server] = servers;
  const { baseUrl } = server;
  const client = openClient(await clientIdOf(await register(baseUrl)), { baseUrl });
  server.answer = { key, scopes: 'all', ...answer };
  const back = await client.ask(openBrowser(), client.address({ scope }));
  const code = back.searchParams.get('code') ?? '';
  const response = await client.exchange(baseUrl, code);
  expect(response.status).toBe(200);
  return { client, code, back, tokens: (await response.json()) as Tokens };
};
const call = (server: Server, token: string) =>
  fetch(`${server.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });

describe('metadata', () => {
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
      expect(await response.json()).toMatchObject({
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
  test('gives it a token that calls in every process of the address', async () => {
    const { tokens, back } = await connect();
    expect(back.origin + back.pathname).toBe(REDIRECT);
    expect(back.searchParams.get('iss')).toBe(servers[0].baseUrl);
    expect(tokens).toMatchObject({ scope: 'brands:read ads:read', expires_in: 3_600 });
    expect((await call(servers[0], tokens.access_token)).status).toBe(200);
    // The token is for the first address; the second is another resource.
    expect((await call(servers[1], tokens.access_token)).status).toBe(401);
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
