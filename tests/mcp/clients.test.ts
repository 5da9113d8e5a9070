import { MockAgent } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { identificationOf, prepareMetadata } from '#application/sign-in/clients.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { createCookies } from '#services/mcp/members/forms.ts';
import { hasClientDocuments } from '#services/mcp/settings.ts';
import { createFetchForClient } from '#services/mcp/sign-in/client-documents.ts';

const ORIGIN = 'https://app.example';
const DOCUMENT = {
  client_id: `${ORIGIN}/app.json`,
  client_name: 'App',
  redirect_uris: ['http://127.0.0.1/callback'],
  scope: 'notes:write',
};

const agent = new MockAgent();
agent.disableNetConnect();
afterAll(() => agent.close());
const fetchForClient = createFetchForClient({
  targetOf: (url) => {
    const fault = checkTargetUrl(url, { allowLoopback: false });
    return fault === null ? { origin: ORIGIN, path: '/app.json' } : { fault };
  },
  dispatcher: agent as never,
});
const answer = (status: number, body: string, headers: Record<string, string> = {}): void => {
  agent.get(ORIGIN).intercept({ path: '/app.json' }).reply(status, body, { headers });
};
const fetchDocument = () => fetchForClient(`${ORIGIN}/app.json`);

describe("a client's document", () => {
  test('is prepared for a program on the computer, keeps its lifetime and loses its scopes', async () => {
    answer(200, JSON.stringify(DOCUMENT), { 'cache-control': 'max-age=600' });
    const response = await fetchDocument();
    expect(response.headers.get('cache-control')).toBe('max-age=600');
    const { scope: _scope, ...kept } = DOCUMENT;
    expect(await response.json()).toEqual({
      ...kept,
      application_type: 'native',
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'none',
    });
  });

  test('is not followed elsewhere, and not read beyond its limit', async () => {
    answer(302, '', { location: 'https://127.0.0.1/' });
    expect((await fetchDocument()).status).toBe(302);
    answer(200, JSON.stringify({ ...DOCUMENT, note: 'x'.repeat(6_000) }));
    await expect(fetchDocument()).rejects.toThrow('more than 5120 bytes');
    answer(200, 'x'.repeat(70_000));
    await expect(fetchDocument()).rejects.toThrow('more than 65536 bytes');
  });

  test('is not fetched from an address that is not public', async () => {
    for (const url of ['https://127.0.0.1/a', 'https://intranet/a', 'http://app.example/a']) {
      await expect(fetchForClient(url)).rejects.toThrow(/public internet|https URL/);
    }
  });

  test('shows the provider a secret, which it refuses', async () => {
    answer(200, JSON.stringify({ ...DOCUMENT, client_secret: 'public' }));
    expect(await (await fetchDocument()).json()).toMatchObject({ client_secret: 'public' });
  });
});

test('metadata keeps the ways of granting that the service has', () => {
  const grant_types = ['refresh_token', 'client_credentials', 'implicit'];
  const prepared = prepareMetadata({ redirect_uris: ['https://app.example/back'], grant_types });
  expect(prepared).toMatchObject({
    metadata: { application_type: 'web', grant_types: ['authorization_code', 'refresh_token'] },
  });
  expect(prepareMetadata({ redirect_uris: ['cursor://back'] })).toMatchObject({
    metadata: { application_type: 'native' },
  });
  for (const input of [null, {}, { redirect_uris: 'https://app.example' }, { redirect_uris: [1] }]) {
    expect(prepareMetadata(input)).toHaveProperty('fault');
  }
});

test('an id says how its app is known', () => {
  expect(['https://app.example/a.json', 'reg_a', 'house'].map(identificationOf)).toEqual([
    'document',
    'registration',
    'operator',
  ]);
});

test('documents are announced where the service is public and https, or on loopback where egress may go there', () => {
  const cases: readonly [Parameters<typeof hasClientDocuments>, boolean][] = [
    [['https://mcp.ads.example', false], true],
    [['http://mcp.ads.example', false], false],
    [['https://127.0.0.1:8082', false], false],
    [['http://127.0.0.1:8082', false], false],
    [['http://127.0.0.1:8082', true], true],
    [['http://mcp.ads.example', true], false],
  ];
  for (const [given, expected] of cases) expect(hasClientDocuments(...given), String(given)).toBe(expected);
});

test('cookies of the pages are for this host alone and secure where the address is https', () => {
  const set = (baseUrl: string): string => {
    let value = '';
    const reply = { header: (_name: string, text: string) => (value = text) };
    createCookies(baseUrl).set(reply as never, 'signed-in', 'x'.repeat(43), 60);
    return value;
  };
  expect(set('https://mcp.ads.example')).toMatch(
    /^__Host-adintel-signed-in=x{43}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(set('http://127.0.0.1:8082')).toMatch(/^adintel-signed-in=x{43}; .*HttpOnly; SameSite=Lax$/);
});
