import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { systemClock } from '#platform/clock.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import {
  createFetchForClient,
  DOCUMENT_MAX_BYTES,
  KEYS_MAX_BYTES,
} from '#services/mcp/sign-in/client-documents.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import {
  answers,
  answersLarge,
  type Behaviour,
  closes,
  dripsBody,
  openTlsReceivers,
  type Receivers,
} from '../../delivery/receivers.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { openApp } from './fixtures/app-with-browser.ts';
import {
  openBrowser,
  openClient,
  openServer,
  REDIRECT,
  type Server,
} from './fixtures/authorization-server.ts';

const OTHER_REDIRECT = 'http://127.0.0.1:1/other';
const KEPT_MS = 5 * 60_000;

let stack: ApiStack;
let key: Key;
let site: Receivers;
/** Two processes at addresses of their own. Each keeps documents by itself. */
let servers: readonly [Server, Server];
const resources = new AsyncDisposableStack();
const addressOf = (path: string): string => `https://localhost:${site.port}${path}`;

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const { pool, workspaceCommands } = stack;
  await createAuthorizationTables(pool);
  key = await stack.key();
  const receivers = await openTlsReceivers('localhost');
  site = resources.use(receivers);
  const egress = resources.use(openEgress({ allowLoopback: true, ca: receivers.ca }));
  const connections = createConnections({ pool, workspaceCommands, clock: systemClock, connectionDays: 180 });
  const open = () => openServer(stack, connections, { fetchForClient: createFetchForClient(egress) });
  servers = [resources.use(await open()), resources.use(await open())];
  for (const server of servers) server.answer = { key, scopes: 'all' };
});
afterAll(() => resources.disposeAsync());
afterEach(() => vi.useRealTimers());

const documentOf = (path: string, changes: object = {}): string =>
  JSON.stringify({
    client_id: addressOf(path),
    client_name: 'App with a document',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...changes,
  });
const JSON_TYPE = { 'content-type': 'application/json' };
const serve = (path: string, ...behaviours: readonly (Behaviour | string)[]): void =>
  site.behave(
    path,
    ...behaviours.map((one) => (typeof one === 'string' ? answers(200, JSON_TYPE, one) : one)),
  );

const begin = async (path: string, { baseUrl }: Server = servers[0], redirect = REDIRECT) => {
  const address = openClient(addressOf(path), { baseUrl, redirect }).address();
  const response = await openBrowser().visit(address);
  return { status: response.status, text: await response.text() };
};

/** Begins again, at most five times, while a right document takes longer than the provider waits, as under load. */
const beginInTime = async (...request: Parameters<typeof begin>) => {
  let reply = await begin(...request);
  for (let tries = 1; tries < 5 && reply.text.includes('document fetch failed'); tries += 1) {
    reply = await begin(...request);
  }
  return reply;
};

test('the official client with a document connects, without a registration', async () => {
  serve('/app.json', documentOf('/app.json', { redirect_uris: ['http://127.0.0.1/back'] }));
  const [{ baseUrl }] = servers;
  expect((await beginInTime('/app.json', servers[0], 'http://127.0.0.1:1/back')).status).toBe(303);
  await using app = await openApp(`${baseUrl}/mcp`, 'App', { documentUrl: addressOf('/app.json') });
  const begun = new URL((await app.begin()) ?? '');
  expect(begun.searchParams.get('client_id')).toBe(addressOf('/app.json'));
  // The pages of this test grant scopes of the service alone; the client also asks for `offline_access`.
  begun.searchParams.set('scope', 'brands:read');
  const back = await openClient(addressOf('/app.json'), { baseUrl }).ask(openBrowser(), begun.href);
  await fetch(back);
  const client = await app.finish();
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  const { rows } = await stack.pool.query<{ count: number }>(
    "select count(*)::int as count from oauth.record where kind = 'Client'",
  );
  expect(rows).toEqual([{ count: 0 }]);
});

describe('a document that cannot be used', () => {
  const faults: readonly (readonly [string, (path: string) => Behaviour | string])[] = [
    [
      'is too large',
      (path) => documentOf(path, { client_uri: `https://a.test/${'x'.repeat(DOCUMENT_MAX_BYTES)}` }),
    ],
    ['is larger than anything that is read', () => answersLarge(200, KEYS_MAX_BYTES + 1)],
    ['leads elsewhere', () => answers(302, { location: addressOf('/right.json') })],
    ['is missing', () => answers(404)],
    ['is a page', () => answers(200, { 'content-type': 'text/html' }, '<title>App</title>')],
    ['is of another app', () => documentOf('/other.json')],
    ['has a secret', (path) => documentOf(path, { client_secret: 'public' })],
    ['has no address to return to', (path) => documentOf(path, { redirect_uris: [] })],
    ['breaks off', () => closes],
    ['never ends', () => dripsBody(200)],
  ];

  test.concurrent.each(faults.map(([name, faulty], at) => ({ name, faulty, path: `/faulty-${at}.json` })))(
    'because it $name gets a page that says so, and is fetched again at the next request',
    async ({ faulty, path }) => {
      serve('/right.json', documentOf(path));
      // The provider fetches it once more to find where an error may be sent.
      serve(path, faulty(path), faulty(path), documentOf(path));
      const refused = await begin(path);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.status).toBeLessThan(500);
      expect(refused.text).toMatch(/^invalid_(client|client_metadata|redirect_uri): /);
      expect((await beginInTime(path)).status).toBe(303);
    },
  );
});

test('a changed document counts when the old one is kept no longer, and at once in a process without it', async () => {
  const changed = documentOf('/changing.json', { redirect_uris: [OTHER_REDIRECT] });
  serve('/changing.json', documentOf('/changing.json'));
  expect((await beginInTime('/changing.json')).status).toBe(303);
  serve('/changing.json', changed);
  const count = site.at('/changing.json').length;
  expect((await begin('/changing.json')).status).toBe(303);
  expect(site.at('/changing.json')).toHaveLength(count);

  const [, other] = servers;
  expect((await beginInTime('/changing.json', other)).text).toMatch(/^invalid_redirect_uri: /);
  expect((await beginInTime('/changing.json', other, OTHER_REDIRECT)).status).toBe(303);

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + KEPT_MS + 1_000 });
  expect((await beginInTime('/changing.json')).text).toMatch(/^invalid_redirect_uri: /);
  expect((await beginInTime('/changing.json', servers[0], OTHER_REDIRECT)).status).toBe(303);
});
