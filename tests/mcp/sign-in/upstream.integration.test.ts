import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { type AddressIndex, openAddressIndex } from '#application/vault/address-index.ts';
import { silentLog } from '#platform/logger.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createUpstream, type Upstream } from '#services/mcp/members/upstream.ts';
import { VAULT_KEY } from '../../operations/fixtures/stack.ts';
import { createTestDatabase } from '../../stack/database.ts';

const CLIENT = 'service';
const resources = new AsyncDisposableStack();
let pool: Database;
let index: AddressIndex;
let upstream: Upstream;
/** Claims that the provider of this test vouches for, by authorization code. */
const claimsOf = new Map<string, Readonly<Record<string, unknown>>>();

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const idTokenOf = (claims: object): string => {
  const unsigned = `${encode({ alg: 'RS256', kid: 'key' })}.${encode(claims)}`;
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
};

/** A small OpenID provider: metadata, key and token endpoint. */
const replyTo = async (request: IncomingMessage, issuer: string): Promise<object> => {
  switch (new URL(request.url ?? '/', issuer).pathname) {
    case '/.well-known/openid-configuration':
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      };
    case '/keys':
      return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256', use: 'sig' }] };
    default: {
      const code = new URLSearchParams(await text(request)).get('code') ?? '';
      const now = Math.floor(Date.now() / 1_000);
      const standard = { iss: issuer, aud: CLIENT, sub: 'ada', iat: now, exp: now + 60 };
      const id_token = idTokenOf({ ...standard, ...claimsOf.get(code) });
      return { access_token: 'unused', token_type: 'bearer', id_token };
    }
  }
};

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  pool = openPool(database.url, 4);
  resources.defer(() => pool.end());
  await createBrowserSignInTables(pool);
  index = await openAddressIndex(pool, VAULT_KEY);
  let issuer = '';
  const server: Server = createServer((request, response) => {
    void replyTo(request, issuer).then((reply) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(reply)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => void server.close());
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const settings = { issuer, clientId: CLIENT, clientSecret: 'secret', baseUrl: 'https://mcp.test' };
  upstream = createUpstream({ pool, index, log: silentLog() }, settings);
});
afterAll(() => resources.disposeAsync());

/** Begins a sign-in, and lets the provider vouch for the claims. Returns the address the browser comes back to. */
const begin = async (claims: Readonly<Record<string, unknown>>): Promise<URL> => {
  const asked = new URL(await upstream.start('browser', '/account')).searchParams;
  expect(asked.get('code_challenge_method')).toBe('S256');
  const code = randomUUID();
  claimsOf.set(code, { nonce: asked.get('nonce'), ...claims });
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
