import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { type AddressIndex, openAddressIndex } from '#application/vault/address-index.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { openMemberSignIn } from '#services/mcp/members/pages-context.ts';
import { registerMemberPages } from '#services/mcp/members/routes.ts';
import { createUpstream, type Upstream } from '#services/mcp/members/upstream.ts';
import { VAULT_KEY } from '../../operations/fixtures/stack.ts';
import { createTestDatabase } from '../../stack/database.ts';
import { CLIENT, openUpstreamProvider, type UpstreamProvider } from './fixtures/upstream-provider.ts';

const resources = new AsyncDisposableStack();
let pool: Database;
let index: AddressIndex;
let upstream: Upstream;
let provider: UpstreamProvider;

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  pool = openPool(database.url, 4);
  resources.defer(() => pool.end());
  await createBrowserSignInTables(pool);
  index = await openAddressIndex(pool, VAULT_KEY);
  provider = resources.use(await openUpstreamProvider());
  const { issuer } = provider;
  const settings = { issuer, clientId: CLIENT, clientSecret: 'secret', baseUrl: 'https://mcp.test' };
  upstream = createUpstream({ pool, index, log: silentLog() }, settings);
});
afterAll(() => resources.disposeAsync());

const begin = async (claims: Readonly<Record<string, unknown>>): Promise<URL> => {
  const asked = new URL(await upstream.start('browser', '/account')).searchParams;
  expect(asked.get('code_challenge_method')).toBe('S256');
  const code = provider.codeFor({ nonce: asked.get('nonce'), ...claims });
  const back = new URL(asked.get('redirect_uri') ?? '');
  back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
  return back;
};

test('a verified address signs in its account, once, in the browser that began', async () => {
  const back = await begin({ email: 'Ada@shop.example', email_verified: true });
  expect(await upstream.finish('another browser', back)).toBeNull();
  const account = { returnTo: '/account', accountId: index.accountIdOf('ada@shop.example') };
  expect(await upstream.finish('browser', back)).toEqual(account);
  expect(await upstream.finish('browser', back)).toBeNull();
});

test.each([
  { email: 'ada@shop.example' },
  { email: 'ada@shop.example', email_verified: false },
  { email: 'ada@shop.example', email_verified: 'true' },
  { email_verified: true },
])('an address that is not verified signs nobody in: %o', async (claims) => {
  const finished = await upstream.finish('browser', await begin(claims));
  expect(finished).toEqual({ returnTo: '/account', accountId: null });
});

test('a reply for another sign-in, a refusal and an unknown state are refused', async () => {
  const verified = { email: 'ada@shop.example', email_verified: true };
  expect(await upstream.finish('browser', await begin({ ...verified, nonce: 'of another one' }))).toBeNull();
  const refused = await begin(verified);
  refused.searchParams.delete('code');
  refused.searchParams.set('error', 'access_denied');
  expect(await upstream.finish('browser', refused)).toBeNull();
  expect(await upstream.finish('browser', new URL('https://mcp.test/signin/upstream/callback'))).toBeNull();
});

test('SIGN_IN=upstream turns codes off, and needs the settings of the provider', async () => {
  const { issuer } = provider;
  const open = async (settings: object) => {
    const dependencies = { baseUrl: 'https://mcp.test', pool, memberVault: null, log: silentLog() };
    return openMemberSignIn({ ...dependencies, clock: systemClock } as never, settings as never);
  };
  const upstreamSettings = {
    SIGN_IN: 'upstream',
    MEMBER_VAULT_KEY: [VAULT_KEY],
    UPSTREAM_ISSUER: issuer,
    UPSTREAM_CLIENT_ID: CLIENT,
    UPSTREAM_CLIENT_SECRET: 'secret',
    DATA_DIR: '.',
  };
  await using signIn = await open(upstreamSettings);
  const { codes, upstream: way } = signIn.pages({} as never);
  expect([codes, way?.name]).toEqual([null, new URL(issuer).host]);
  await using both = await open({ ...upstreamSettings, SIGN_IN: 'codes' });
  expect(both.pages({} as never).codes).not.toBeNull();
  await expect(open({ SIGN_IN: 'upstream' })).rejects.toThrow(/needs UPSTREAM_ISSUER/);
  const { UPSTREAM_CLIENT_SECRET: _, ...incomplete } = upstreamSettings;
  await expect(open(incomplete)).rejects.toThrow(/needs UPSTREAM_CLIENT_ID/);
});

test('a provider that is down, mute or at fault gets a page with 503 soon, both before and after the person was there', async () => {
  const LIMIT_MS = 9_000;
  await using failing = await openUpstreamProvider();
  const settings = { SIGN_IN: 'upstream', MEMBER_VAULT_KEY: [VAULT_KEY], DATA_DIR: '.' };
  const openPages = async (issuer: string): Promise<FastifyInstance & AsyncDisposable> => {
    const dependencies = { baseUrl: 'https://mcp.test', pool, memberVault: null, clock: systemClock };
    const client = { UPSTREAM_CLIENT_ID: CLIENT, UPSTREAM_CLIENT_SECRET: 'secret' };
    const signIn = await openMemberSignIn(
      { ...dependencies, log: silentLog() } as never,
      { ...settings, ...client, UPSTREAM_ISSUER: issuer } as never,
    );
    const app = fastify();
    await registerMemberPages(app, signIn.pages({} as never), {} as never);
    return Object.assign(app, {
      [Symbol.asyncDispose]: async () => {
        await app.close();
        await signIn[Symbol.asyncDispose]();
      },
    });
  };
  const expectUnavailable = async (app: FastifyInstance, url: string, cookie = ''): Promise<void> => {
    const since = performance.now();
    const reply = await app.inject({ url, headers: { host: 'mcp.test', cookie } });
    expect(performance.now() - since).toBeLessThan(LIMIT_MS);
    expect(reply.statusCode).toBe(503);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(reply.body).toMatch(/The sign-in of 127\.0\.0\.1:\d+ does not answer\./);
  };

  await using mute = await openUpstreamProvider();
  mute.fault('mute');
  await using down = await openPages(`http://127.0.0.1:${await freePort()}`);
  await using ofMute = await openPages(mute.issuer);
  await using pages = await openPages(failing.issuer);
  const begun = await pages.inject({ url: '/account/upstream', headers: { host: 'mcp.test' } });
  expect(begun.statusCode).toBe(303);
  const [cookie = ''] = String(begun.headers['set-cookie']).split(';');
  const asked = new URL(String(begun.headers.location)).searchParams;
  const back = new URLSearchParams({
    code: failing.codeFor({ nonce: asked.get('nonce') }),
    state: asked.get('state') ?? '',
  });
  failing.fault('error');
  await Promise.all([
    expectUnavailable(down, '/account/upstream'),
    expectUnavailable(ofMute, '/account/upstream'),
    expectUnavailable(pages, `/signin/upstream/callback?${back.toString()}`, cookie),
  ]);
});
