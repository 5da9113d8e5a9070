import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetch, type RequestInit, type Response } from 'undici';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { connectionIdOf, GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';
import { systemClock } from '#platform/clock.ts';
import { createAdapter } from '#services/mcp/sign-in/adapter.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import { TOOLS } from '#services/mcp/tools/register-tools.ts';
import { openApiStack, VAULT_KEY } from '../operations/fixtures/stack.ts';
import { runs } from '../property-seed.ts';
import { type ServiceProcess, startProcess } from '../stack/processes.ts';

const MAIN = join(import.meta.dirname, '../../services/mcp/main.ts');
const RUNS_PER_TOOL = runs(5);
const RUNS = runs(30);
const resources = new AsyncDisposableStack();
let baseUrl: string;
let token: string;
let running: ServiceProcess;

beforeAll(async () => {
  const stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  const [key, port] = [await stack.key({ plan: 'enterprise' }), await freePort()];
  await stack.seed(['alpha']);
  baseUrl = `http://127.0.0.1:${port}`;
  running = startProcess(MAIN, {
    ...stack.environment,
    MCP_PORT: String(port),
    MCP_SECRET: 'a secret of 32 characters for tests',
    TRUSTED_PROXIES: '127.0.0.1',
    CURSOR_SECRET: 'a secret for tests only',
    MEMBER_VAULT_KEY: VAULT_KEY,
  });
  resources.defer(async () => void (await running.stop()));
  const connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  const grantId = randomUUID();
  await connections.allow({
    connectionId: connectionIdOf(grantId),
    workspaceId: key.workspaceId,
    memberId: key.memberId,
    app: { id: 'app', name: 'App', identified_by: 'registration', redirect_host: 'loopback' },
    scopes: GRANTABLE_SCOPES,
    role: 'owner',
  });
  token = randomUUID();
  const issued = { kind: 'AccessToken', grantId, aud: `${baseUrl}/mcp`, scope: GRANTABLE_SCOPES.join(' ') };
  await createAdapter(pool, connections)('AccessToken').upsert(token, { ...issued, jti: token }, 3_600);
  await running.says('listening');
});
afterAll(() => resources.disposeAsync());

const HOSTILE = [
  '',
  '\u0000',
  '\u{202E}\u{E0041}\uD800',
  '../../../etc/passwd',
  "'; drop schema oauth cascade; --",
  '%00%ff%',
  '<script>alert(1)</script>',
  '__proto__',
  'http://169.254.169.254/latest',
  'x'.repeat(20_000),
];
const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 40 }));
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.integer(), fc.constant(10));

/** Each request comes from an address of its own, because addresses have limits. */
const send = (path: string, options: RequestInit = {}): Promise<Response> => {
  const [a, b] = [randomBytes(2).toString('hex'), randomBytes(2).toString('hex')];
  const headers = {
    ...(options.headers as Record<string, string>),
    'x-forwarded-for': `2001:db8::${a}:${b}`,
  };
  return fetch(`${baseUrl}${path}`, { redirect: 'manual', ...options, headers });
};
const postMessage = (body: string): Promise<Response> =>
  send('/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body,
  });
const expectNoFault = async (response: Response): Promise<string> => {
  const reply = await response.text();
  expect(response.status, reply).toBeLessThan(500);
  expect(reply).not.toMatch(/Internal error|Something went wrong/);
  return reply;
};
const encode = (params: unknown): string => JSON.stringify(params) ?? 'null';
const noErrorLogged = (): void => expect(running.output()).not.toMatch(/"level":[56]0/);

test('a call that is not hostile is answered', async () => {
  const params = { name: 'find_brands', arguments: { q: 'alpha' } };
  const response = await postMessage(encode({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('alpha');
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', async (name, { input }) => {
  const names = Object.keys((input as { readonly shape?: object }).shape ?? {});
  const args = fc.dictionary(fc.constantFrom(...names, 'unknown'), value, { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(args, async (one) => {
      const params = { name, arguments: one };
      await expectNoFault(await postMessage(encode({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })));
    }),
    { numRuns: RUNS_PER_TOOL },
  );
  noErrorLogged();
});

test('messages, resources, prompts and completions', async () => {
  const method = fc.constantFrom(
    'tools/call',
    'resources/read',
    'prompts/get',
    'completion/complete',
    'initialize',
  );
  const params = fc.dictionary(
    fc.constantFrom('name', 'arguments', 'uri', 'ref', 'argument', '_meta'),
    value,
  );
  const message = fc.oneof(
    fc
      .record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), method: fc.oneof(method, text), params })
      .map(encode),
    fc.record({ jsonrpc: value, id: value, method: value, params: value }).map(encode),
    text,
  );
  await fc.assert(
    fc.asyncProperty(message, async (one) => void (await expectNoFault(await postMessage(one)))),
    { numRuns: RUNS },
  );
  const uris = fc
    .constantFrom('brands', 'ads', 'briefs', 'guide', '')
    .chain((kind) => text.map((id) => `adintel://${kind}/${encodeURIComponent(id.toWellFormed())}`));
  await fc.assert(
    fc.asyncProperty(uris, async (uri) => {
      const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
      await expectNoFault(await postMessage(encode(read)));
    }),
    { numRuns: RUNS },
  );
  noErrorLogged();
});

test('the authorization server', async () => {
  const names =
    'client_id redirect_uri response_type code_challenge code_challenge_method scope resource state prompt code refresh_token grant_type token request request_uri client_secret response_mode'.split(
      ' ',
    );
  const form = fc
    .dictionary(
      fc.constantFrom(...names),
      fc.oneof(text, fc.constantFrom('code', 'S256', 'authorization_code', 'refresh_token', 'app')),
    )
    .map(
      (fields) =>
        new URLSearchParams(
          Object.entries(fields).map(([name, one]): [string, string] => [name, one.slice(0, 2_000)]),
        ),
    );
  await fc.assert(
    fc.asyncProperty(
      form,
      fc.constantFrom('token', 'revoke', 'authorize', 'jwks', 'unknown'),
      async (body, path) => {
        await expectNoFault(await send(`/oauth/${path}`, { method: 'POST', body }));
        const query = body.toString().slice(0, 6_000);
        await expectNoFault(await send(`/oauth/${path}?${query}`));
      },
    ),
    { numRuns: RUNS },
  );
  const metadata = fc.dictionary(
    fc.constantFrom(
      'client_name',
      'redirect_uris',
      'grant_types',
      'scope',
      'jwks',
      'application_type',
      'token_endpoint_auth_method',
      'client_uri',
      'logo_uri',
      'contacts',
    ),
    value,
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(metadata.map(encode), text), async (body) => {
      const headers = { 'content-type': 'application/json' };
      await expectNoFault(await send('/oauth/register', { method: 'POST', headers, body }));
    }),
    { numRuns: RUNS },
  );
  noErrorLogged();
});

test('the pages of members', async () => {
  const shown = await send('/account');
  const cookie = shown.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const formToken = /name="form_token" value="([^"]+)"/.exec(await shown.text())?.[1] ?? '';
  const id = text.map((one) => encodeURIComponent(one.toWellFormed()).slice(0, 300));
  const path = fc.oneof(
    fc.constantFrom(
      '/account',
      '/account/address',
      '/account/code',
      '/account/end',
      '/account/revoke',
      '/account/sign-out',
    ),
    id.map((one) => `/signin/${one}`),
    id.map((one) => `/signin/invitation/${one}`),
    fc
      .tuple(id, fc.constantFrom('address', 'code', 'switch', 'consent', 'upstream'))
      .map(([one, step]) => `/signin/${one}/${step}`),
  );
  const names = ['address', 'code', 'workspace', 'connection', 'key', 'sign_in', 'answer', 'permission'];
  const fields = fc.dictionary(fc.constantFrom(...names), text);
  await fc.assert(
    fc.asyncProperty(path, fields, async (one, entries) => {
      const cut = Object.entries(entries).map(([name, field]): [string, string] => [
        name,
        field.slice(0, 3_000),
      ]);
      const body = new URLSearchParams([['form_token', formToken], ...cut]);
      const headers = { cookie, origin: baseUrl };
      await expectNoFault(await send(one, { method: 'POST', headers, body }));
      await expectNoFault(await send(one, { headers: { cookie } }));
    }),
    { numRuns: RUNS },
  );
  noErrorLogged();
});
