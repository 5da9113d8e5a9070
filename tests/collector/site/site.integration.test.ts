import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation } from '#contracts/observations/index.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { answerSite, type WorldSite } from '#tests/world/site-world.ts';
import type { PlayedAnswer } from '#tests/platform/http-client/played-sites.ts';
import { type CollectorStack, openCollectorStack } from '../collector-stack.ts';

let stack: CollectorStack;
let collector: AsyncDisposable;
beforeAll(async () => {
  stack = await openCollectorStack();
  collector = stack.start({ sources: ['site'] });
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

let sites = 0;
type Played = { site: WorldSite; readonly domain: string; readonly instead: Map<string, PlayedAnswer> };

/** Answers in `instead` take the place of the site's pages. */
const play = (changes: Partial<WorldSite> = {}): Played => {
  sites += 1;
  const domain = `site-${sites}.example`;
  const played: Played = {
    domain,
    instead: new Map(),
    site: {
      domain,
      name: `Brand ${sites}`,
      description: 'Things & more',
      company: `Shop ${sites} GmbH`,
      country: 'DE',
      scripts: ['https://cdn.shopify.com/s/a.js', 'https://cdn.intelligems.io/x.js'],
      products: ['shoe', 'hat'],
      ...changes,
    },
  };
  stack.played.sites.set(domain, (path, { headers }) => {
    if (path === '/robots.txt') return played.instead.get(path) ?? { status: 404 };
    return (
      played.instead.get(path) ??
      answerSite(played.site, { path, ifNoneMatch: headers['if-none-match'] }) ??
      undefined
    );
  });
  return played;
};

const read = async ({ domain }: Played, n = 1) => {
  await stack.wish(domain, 'daily', 'site');
  return stack.attempt(domain, n);
};

const about = async <T extends Observation['type']>(type: T, domain: string) =>
  (await stack.observations()).filter(
    (one): one is Extract<Observation, { readonly type: T }> =>
      one.type === type &&
      ('domain' in one ? one.domain === domain : 'domains' in one && one.domains.includes(domain)),
  );

test('a site gives a profile, a scan and the record of its company, from five pages', async () => {
  const played = play();
  expect(await read(played)).toMatchObject({ outcome: 'complete' });
  const { domain } = played;
  expect(await about('brand.profile', domain)).toMatchObject([
    { name: 'Brand 1', description: 'Things & more', country: 'DE', logo_url: `https://${domain}/logo.png` },
  ]);
  const [scan] = await about('site.scan', domain);
  expect(scan).toMatchObject({
    complete: true,
    collector: 'site-signs-1',
    split_test_tools: [{ slug: 'intelligems', readable: false }],
    split_tests: [],
  });
  expect(scan?.tools.map(({ slug }) => slug)).toEqual(expect.arrayContaining(['intelligems', 'shopify']));
  expect(await about('operator.record', domain)).toMatchObject([
    { name: 'Shop 1 GmbH', basis: 'site_imprint', country: null, domains: [domain], page_ids: [] },
  ]);
  expect(stack.played.requests.filter((one) => one.startsWith(`${domain} `))).toEqual([
    `${domain} /robots.txt`,
    `${domain} /`,
    `${domain} /policies/legal-notice`,
    `${domain} /products/shoe`,
    `${domain} /collections/all`,
    `${domain} /pages/about`,
  ]);
  const { rows } = await stack.database.query<{ due_at: Date }>(
    'select due_at from collecting.target where domain = $1',
    [domain],
  );
  const days = ((rows[0]?.due_at.getTime() ?? 0) - stack.nowMs) / DAY_MS;
  expect(days).toBeGreaterThanOrEqual(27);
  expect(days).toBeLessThanOrEqual(30);
});

test('a second reading asks on condition, and finds what was added and the pages that did not change', async () => {
  const played = play();
  await read(played);
  stack.nowMs += 30 * DAY_MS;
  const scripts = [...played.site.scripts, 'https://static.klaviyo.com/onsite/js/klaviyo.js'];
  expect(await read(played, 2)).toMatchObject({ outcome: 'complete' });
  stack.nowMs += 30 * DAY_MS;
  played.site = { ...played.site, scripts };
  expect(await read(played, 3)).toMatchObject({ outcome: 'complete' });
  const scans = await about('site.scan', played.domain);
  const slugs = scans.map(({ tools }) => tools.map(({ slug }) => slug));
  expect(slugs[1]).toEqual(slugs[0]);
  expect(slugs[2]).toEqual([...(slugs[0] ?? []), 'klaviyo'].toSorted());
  expect(new Set(scans.map(({ observed_at }) => observed_at)).size).toBe(3);
});

test('a company that two sites name has both, and loses the one that names another company', async () => {
  const [one, two] = [play({ company: 'Both GmbH' }), play({ company: 'BOTH  GmbH' })];
  await read(one);
  await read(two);
  expect((await about('operator.record', one.domain)).at(-1)).toMatchObject({
    domains: [one.domain, two.domain].toSorted(),
  });
  // A day later no other site is due, so that only this one is read.
  stack.nowMs += DAY_MS;
  two.site = { ...two.site, company: 'Other Ltd' };
  await read(two, 2);
  const records = await Promise.all([one, two].map(({ domain }) => about('operator.record', domain)));
  expect(records.map((all) => all.at(-1))).toMatchObject([
    { name: 'BOTH GmbH', domains: [one.domain] },
    { name: 'Other Ltd', domains: [two.domain] },
  ]);
});

test.each([
  ['a page that is not answered', '/products/shoe', { status: 404 }, /product page: answered 404/],
  [
    'a page that is no HTML',
    '/pages/about',
    { body: '{}', headers: { 'content-type': 'application/json' } },
    /about page: not HTML/,
  ],
  [
    'a page that leads elsewhere',
    '/collections/all',
    { status: 302, headers: { location: 'https://site-1.example/' } },
    /leads to site-1\.example/,
  ],
  [
    'a page that leads inward',
    '/collections/all',
    { status: 302, headers: { location: 'https://127.0.0.1/' } },
    /blocked/,
  ],
  [
    'a robots.txt that forbids a page',
    '/robots.txt',
    { body: 'User-agent: *\nDisallow: /products/' },
    /robots\.txt forbids/,
  ],
])('%s leaves a partial scan', async (_name, path, answer, detail) => {
  const played = play();
  played.instead.set(path, answer);
  expect(await read(played)).toMatchObject({ outcome: 'partial', detail: expect.stringMatching(detail) });
  expect(await about('site.scan', played.domain)).toMatchObject([{ complete: false }]);
});

test.each([
  ['forbidden', '/robots.txt', { body: 'User-agent: *\nDisallow: /' }],
  ['moved', '/', { status: 301, headers: { location: 'https://site-1.example/' } }],
  // A look-alike: its first letter is Cyrillic.
  ['moved', '/', { status: 301, headers: { location: 'https://xn--ite-1-g2e.example/' } }],
  ['closed', '/', { status: 302, headers: { location: '/password' } }],
  ['unreadable', '/', { status: 404 }],
  ['unreadable', '/', { body: '{}', headers: { 'content-type': 'application/json' } }],
  ['wait', '/', { status: 503 }],
  ['refused', '/', { status: 403 }],
])('a site that is %s gives no observation', async (outcome, path, answer) => {
  const played = play();
  played.instead.set('/password', { body: 'closed', headers: { 'content-type': 'text/html' } });
  played.instead.set(path, answer);
  expect(await read(played)).toMatchObject({ outcome });
  expect(await about('site.scan', played.domain)).toEqual([]);
  expect(await about('brand.profile', played.domain)).toEqual([]);
});

test('a site without a name and an imprint gives a scan alone', async () => {
  const played = play({ name: null, company: null });
  played.instead.set('/policies/legal-notice', {
    body: '<p>Jane Doe</p>',
    headers: { 'content-type': 'text/html' },
  });
  expect(await read(played)).toMatchObject({
    outcome: 'complete',
    detail: expect.stringContaining('no name'),
  });
  expect(await about('brand.profile', played.domain)).toEqual([]);
  expect(await about('operator.record', played.domain)).toEqual([]);
});
