import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import type { Provider } from 'oidc-provider';
import { freePort } from '#deploy/local/os/ports.ts';
import { sha256Of } from '#application/access/api-key-format.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/pool.ts';
import { buildMcpApp } from '#services/mcp/app.ts';
import { registerOauthRoutes } from '#services/mcp/http/oauth-routes.ts';
import type { Connections } from '#services/mcp/sign-in/connections.ts';
import { deriveKeys } from '#services/mcp/sign-in/keys.ts';
import { createProvider, type ProviderDependencies, resourceOf } from '#services/mcp/sign-in/provider.ts';
import { createVerifyAccessToken } from '#services/mcp/sign-in/verify-access-token.ts';
import type { ApiStack, Key } from '../../operations/fixtures/stack.ts';

export const MCP_SECRET = 'a secret of 32 characters for tests';
export const REDIRECT = 'http://127.0.0.1:1/callback';

/** Opens a connection per request, so that none is left to a process that has ended. */
const dispatcher = new Agent({ pipelining: 0 });
/** Proxy whose word about a client's address counts; each app and browser of a test has an address of its own. */
const PROXY = '127.0.0.1';
const newAddress = (): string =>
  `2001:db8::${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}`;

const send = (url: string, from: string, options: RequestInit = {}): Promise<Response> =>
  fetch(url, {
    redirect: 'manual',
    ...options,
    dispatcher,
    headers: { 'x-forwarded-for': from, ...(options.headers as Record<string, string> | undefined) },
  });

/** A browser that keeps cookies and follows no redirect by itself. */
export const openBrowser = () => {
  const cookies = new Map<string, string>();
  const from = newAddress();
  return {
    visit: async (url: string): Promise<Response> => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await send(url, from, { headers: { accept: 'text/html', cookie } });
      for (const text of response.headers.getSetCookie()) {
        const [pair = ''] = text.split(';');
        const at = pair.indexOf('=');
        if (/expires=Thu, 01 Jan 1970/i.test(text)) cookies.delete(pair.slice(0, at));
        else cookies.set(pair.slice(0, at), pair.slice(at + 1));
      }
      return response;
    },
  };
};
export type Browser = ReturnType<typeof openBrowser>;

/** Answer of the member on the pages of this test. */
export type Answer = {
  readonly key: Key;
  readonly scopes: readonly Scope[] | 'all' | 'deny';
  readonly role?: 'owner' | 'viewer';
};

/** A process of the authorization server. Its pages answer at once, through the provider's own interface. */
export type Server = AsyncDisposable & {
  readonly app: FastifyInstance;
  readonly provider: Provider;
  readonly baseUrl: string;
  /** The answer that the pages give to the next requests. */
  answer: Answer | null;
};

export const openServer = async (
  stack: ApiStack,
  connections: Connections,
  options: Partial<ProviderDependencies> & { readonly secrets?: readonly [string, string?] } = {},
): Promise<Server> => {
  const port = options.baseUrl === undefined ? await freePort() : Number(new URL(options.baseUrl).port);
  const baseUrl = options.baseUrl ?? `http://127.0.0.1:${port}`;
  const provider = createProvider({
    baseUrl,
    pool: stack.pool,
    connections,
    members: { find: async (accountId) => ({ accountId }) },
    keys: deriveKeys(...(options.secrets ?? [MCP_SECRET])),
    fetchForClient: null,
    hasRegistration: true,
    connectionDays: 180,
    errorPage: ({ error, description }) => `${error}: ${description}`,
    log: silentLog(),
    ...options,
  });
  const tokens = openReadDatabase(stack.environment['DATABASE_URL'] ?? '');
  const server: { answer: Answer | null } = { answer: null };
  const pages = async (app: FastifyInstance): Promise<void> => {
    app.get('/signin/:uid', async (request, reply) => {
      const { answer } = server;
      if (!answer) throw new Error('no answer');
      reply.hijack();
      const { raw } = reply;
      const interaction = await provider.interactionDetails(request.raw, raw);
      const { uid, prompt, params, session } = interaction;
      const { key, scopes, role = 'owner' } = answer;
      if (prompt.name === 'login') {
        const login = { accountId: key.memberId, remember: false };
        return provider.interactionFinished(request.raw, raw, { login });
      }
      if (scopes === 'deny') {
        const denied = { error: 'access_denied' };
        return provider.interactionFinished(request.raw, raw, denied, { mergeWithLastSubmission: false });
      }
      const clientId = String(params['client_id']);
      const asked = String(params['scope']).split(' ');
      const granted = asked.filter(
        (scope) => scopes === 'all' || (scopes as readonly string[]).includes(scope),
      );
      const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId });
      grant.jti = sha256Of(`grant of ${uid}`);
      if (granted.length > 0) grant.addResourceScope(resourceOf(baseUrl), granted.join(' '));
      const rejected = asked.filter((scope) => !granted.includes(scope));
      if (rejected.length > 0) grant.rejectResourceScope(resourceOf(baseUrl), rejected.join(' '));
      await connections.allow({
        connectionId: connectionIdOf(grant.jti),
        workspaceId: key.workspaceId,
        memberId: key.memberId,
        app: { id: clientId, name: 'App', identified_by: 'registration', redirect_host: 'loopback' },
        scopes: granted as Scope[],
        role,
      });
      await provider.interactionFinished(request.raw, raw, { consent: { grantId: await grant.save() } });
    });
  };
  const app = await buildMcpApp(
    {
      baseUrl,
      allowedOrigins: [],
      hasWrites: true,
      verifyAccessToken: createVerifyAccessToken(tokens, resourceOf(baseUrl)),
      dependencies: stack.operations(),
    },
    { trustedProxies: [PROXY], routes: [(one) => registerOauthRoutes(one, { provider, baseUrl }), pages] },
  );
  await app.listen({ host: '127.0.0.1', port });
  return Object.assign(server, {
    app,
    provider,
    baseUrl,
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await tokens[Symbol.asyncDispose]();
    },
  });
};

export type Tokens = {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scope: string;
  readonly expires_in: number;
};

/** Sends a form to an endpoint of the authorization server. */
export const post = (baseUrl: string, path: string, form: Readonly<Record<string, string>>) =>
  send(`${baseUrl}${path}`, newAddress(), { method: 'POST', body: new URLSearchParams(form) });

export const register = (
  baseUrl: string,
  metadata: object = {},
  { from = newAddress(), origin }: { readonly from?: string; readonly origin?: string } = {},
): Promise<Response> =>
  send(`${baseUrl}/oauth/register`, from, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(origin === undefined ? {} : { origin }) },
    body: JSON.stringify({
      client_name: 'App',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      ...metadata,
    }),
  });

/** Calls the MCP server with a token. */
export const callMcp = (baseUrl: string, token: string): Promise<Response> =>
  send(`${baseUrl}/mcp`, newAddress(), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });

export const clientIdOf = async (response: Response): Promise<string> => {
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { client_id: string }).client_id;
};

/** An app that asks for access in a browser, with PKCE. */
export const openClient = (
  clientId: string,
  { baseUrl, redirect = REDIRECT }: { readonly baseUrl: string; readonly redirect?: string },
) => {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomUUID();
  return {
    verifier,
    /** Returns the address to begin with. */
    address: (change: Readonly<Record<string, string | null>> = {}): string => {
      const url = new URL('/oauth/authorize', baseUrl);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirect,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource: resourceOf(baseUrl),
        scope: 'brands:read ads:read',
        state,
        ...change,
      };
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== null) url.searchParams.set(name, value);
      }
      return url.href;
    },
    /** Follows redirects until the browser would leave for the app. Returns that address. */
    ask: async (browser: Browser, address: string): Promise<URL> => {
      let url = address;
      for (let steps = 0; steps < 10; steps += 1) {
        const response = await browser.visit(url);
        const location = response.headers.get('location');
        if (location === null) throw new Error(`${response.status} at ${url}: ${await response.text()}`);
        url = new URL(location, url).href;
        if (!url.startsWith(baseUrl)) return new URL(url);
      }
      throw new Error('too many redirects');
    },
    exchange: (at: string, code: string, change: Readonly<Record<string, string>> = {}) =>
      post(at, '/oauth/token', {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: redirect,
        code_verifier: verifier,
        ...change,
      }),
    refresh: (at: string, refreshToken: string, change: Readonly<Record<string, string>> = {}) =>
      post(at, '/oauth/token', {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: refreshToken,
        ...change,
      }),
  };
};

/** Returns the status and the error of a refusal. */
export const errorOf = async (response: Response): Promise<readonly [number, string]> => {
  const { error } = (await response.json()) as { error: string };
  return [response.status, error];
};
