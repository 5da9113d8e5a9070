import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { type AddressIndex, openAddressIndex } from '#application/vault/address-index.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openMemberSignIn } from '#services/mcp/members/create-pages.ts';
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

/** Begins a sign-in, and lets the provider vouch for the claims. Returns the address the browser comes back to. */
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
    MEMBER_VAULT_KEY: VAULT_KEY,
    UPSTREAM_ISSUER: issuer,
    UPSTREAM_CLIENT_ID: CLIENT,
    UPSTREAM_CLIENT_SECRET: 'secret',
    MAIL_DIR: '.',
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
