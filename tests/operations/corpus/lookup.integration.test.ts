import { describe, expect, test } from 'vitest';
import type { Lookup } from '#contracts/resources/corpus/lookup.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { registered } from '../fixtures/corpus.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { on } from '#tests/dsl/api.ts';
import {
  at,
  brand,
  describePage,
  idOf,
  link,
  scanned,
  start,
} from '#tests/projections/fixtures/network-events.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { seedEvents } from '../fixtures/site-corpus.ts';
import { BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';

const PAGE = '100000001';
const UNLINKED = '100000002';
const AD = '9000000001';
const RUSSIAN = brandIdOf('xn--e1afmkfd.xn--p1ai');

const stack = await disposeAfterAll(openApiStack());
const [app, key] = await Promise.all([stack.api(), stack.key()]);
await seedEvents(stack, [
  brand('alpha'),
  brand('alphabet'),
  brand('hidden', { is_public: false }),
  { stream: brandStream(RUSSIAN), event: registered('xn--e1afmkfd.xn--p1ai', at(1), { category_path: [] }) },
  link('alpha', PAGE),
  describePage(PAGE, 'library', 2, { username: 'Alpha.Shop' }),
  start('alpha', AD, { page: PAGE, to: 'https://alpha.example/boots?utm_source=x' }),
  start('alphabet', '9000000002', { page: UNLINKED }),
  scanned('alpha', 5),
  scanned('alphabet', 5),
]);

const lookUp = async (q: string): Promise<Lookup> =>
  (await on(app).get(`/v1/lookup?q=${encodeURIComponent(q)}`, { key })).data;
const found = async (q: string): Promise<readonly string[]> =>
  (await lookUp(q)).matches.map(({ kind, id, certainty }) => `${certainty} ${kind} ${id}`);

const ALPHA = `brand ${idOf('alpha')}`;
const BOOTS = landingPageOf('https://alpha.example/boots')?.landing_page_id ?? '';

describe('lookUp 200', () => {
  test.each([
    ['the domain of a brand', 'alpha.example', [`exact ${ALPHA}`]],
    ['its slug', 'alpha', [`exact ${ALPHA}`, `likely brand ${idOf('alphabet')}`]],
    ['its id in upper case', idOf('alpha').toUpperCase(), [`exact ${ALPHA}`]],
    ['any address of its site', 'https://www.ALPHA.example/about?x=1#y', [`exact ${ALPHA}`]],
    ['a host below its domain', 'shop.alpha.example', [`likely ${ALPHA}`]],
    ['a domain with a dot at its end', 'alpha.example.', [`exact ${ALPHA}`]],
    ['an address without a scheme', '//alpha.example/about', [`exact ${ALPHA}`]],
    ['an e-mail address', 'info@alpha.example', [`exact ${ALPHA}`]],
    ['a domain of other letters', 'пример.рф', [`exact brand ${RUSSIAN}`]],
    ['the same in ASCII', 'xn--e1afmkfd.xn--p1ai', [`exact brand ${RUSSIAN}`]],
    ['an address that ads lead to', 'alpha.example/boots', [`exact ${ALPHA}`, `exact landing_page ${BOOTS}`]],
    ['its name', 'Alpha', [`exact ${ALPHA}`, `likely brand ${idOf('alphabet')}`]],
    ['a part of its name', 'lphabe', [`likely brand ${idOf('alphabet')}`]],
    ['the id of a page', PAGE, [`exact social_page ${PAGE}`]],
    ['the id of an ad', AD, [`exact ad ${AD}`]],
    [
      'an address of the ad library for an ad',
      `https://www.facebook.com/ads/library/?id=${AD}`,
      [`exact ad ${AD}`],
    ],
    [
      'an address of the ad library for a page',
      `https://www.facebook.com/ads/library/?active_status=all&view_all_page_id=${PAGE}`,
      [`exact social_page ${PAGE}`],
    ],
    ['a username', '@alpha.shop', [`likely social_page ${PAGE}`]],
    ['the address of a profile', 'https://www.instagram.com/alpha.shop/', [`likely social_page ${PAGE}`]],
  ])('finds by %s', async (_name, q, matches) => {
    expect(await found(q)).toEqual(matches);
  });

  test('shows the brand of a match, addresses that answer, and why it was found', async () => {
    const { data, meta } = await on(app).get('/v1/lookup?q=alpha.example/boots', { key });
    const { matches }: Lookup = data;
    const reference = { id: idOf('alpha'), slug: 'alpha' };
    expect(data).toMatchObject({
      matches: [
        { brand: reference, reason: 'alpha.example is the domain of the brand.' },
        { brand: reference, reason: 'Ads lead to this address.' },
      ],
      advice: null,
    });
    expect(meta.as_of).toBe((await on(app).get(`/v1/brands/${idOf('alpha')}`, { key })).meta.as_of);
    const others = await Promise.all([PAGE, AD].map(async (q) => (await lookUp(q)).matches[0]));
    for (const { url = null } of [...matches, ...others.map((one) => ({ url: one?.url }))]) {
      expect(url).toMatch(BASE_URL);
      expect((await on(app).get(url?.slice(BASE_URL.length) ?? '', { key })).status).toBe(200);
    }
  });

  test('shows ads and landing pages to keys that may read them only', async () => {
    const issued = await on(app).post(`/v1/workspaces/${key.workspaceId}/api-keys`, {
      key,
      body: { name: 'limited', scopes: ['brands:read'] },
    });
    const limited: Key = { ...key, text: (issued.data as { readonly api_key: string }).api_key };
    const kinds = async (q: string, by: Key): Promise<readonly string[]> => {
      const { data } = await on(app).get(`/v1/lookup?q=${q}`, { key: by });
      return (data as Lookup).matches.map(({ kind }) => kind);
    };
    expect(await Promise.all([kinds(AD, key), kinds(AD, limited)])).toEqual([['ad'], []]);
    expect(await kinds('alpha.example/boots', key)).toEqual(['brand', 'landing_page']);
    expect(await kinds('alpha.example/boots', limited)).toEqual(['brand']);
  });

  test('shows a page that no brand is linked to with the brand whose ads it shows', async () => {
    const { matches } = await lookUp(UNLINKED);
    expect(matches).toMatchObject([{ kind: 'social_page', brand: { id: idOf('alphabet') } }]);
  });

  test.each([
    ['unknown.example', /^Nothing .* no evidence/],
    ['99999999999', /^Nothing/],
    ['@nobody', /^Nothing/],
    ['nothing is called %_\\ this', /^Nothing/],
    ['https://linktr.ee/', /^Many advertisers share linktr.ee/],
  ])('advises what would make %s known', async (q, advice) => {
    expect(await lookUp(q)).toEqual({
      matches: [],
      advice: expect.stringMatching(advice),
    });
  });
});

describe('lookUp 400', () => {
  test.each([
    ['no text', ''],
    ['an empty text', '?q='],
    ['white space', '?q=%20%20'],
    ['a text that is too long', `?q=${'x'.repeat(8_193)}`],
    ['a NUL character', '?q=a%00b'],
  ])('rejects %s', async (_name, query) => {
    const reply = await on(app).get(`/v1/lookup${query}`, { key });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path: 'q' }] } });
  });
});
