import axe from 'axe-core';
import { createHash } from 'node:crypto';
import { fastify, type FastifyInstance } from 'fastify';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adLibraryStream, type AdLibraryEvent, type AdStarted } from '#contracts/events/corpus/ad-library.ts';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import { HOUR_MS, utcDate } from '#contracts/values/time.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { derivedId } from '#domain/ids.ts';
import { systemClock } from '#platform/clock.ts';
import { createAuthorizationTables } from '#application/sign-in/authorization-tables.ts';
import { createConnections } from '#services/mcp/sign-in/connections.ts';
import { openMemberSignIn } from '#services/mcp/members/pages-context.ts';
import { registerMemberPages } from '#services/mcp/members/routes.ts';
import { BLANK_CONTENT, scanRecorded } from '#tests/dsl/ad-events.ts';
import { on, type Reply } from '#tests/dsl/api.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import { recordCreative } from '../../operations/fixtures/creative-events.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { trackingThrough } from '../../operations/fixtures/tracking.ts';
import { CHROMIUM_ARGUMENTS } from '../../ops/fixtures/browser.ts';
import { takeScreenshot } from '../../ops/fixtures/screenshots.ts';
import { withThumbnails } from '../mcp-stack.ts';
import { CHROMIUM, DESKTOP } from '../sign-in/fixtures/walk.ts';

const STEP_LIMIT_MS = 60_000;
const NARROW = { width: 360, height: 780 };
const MANY_ADS = 25;
const HOSTILE = `<img src=x onerror="document.title='taken'"></title><script>document.title='taken'</script>\u202E`;
const METADATA = metadataOf('brand page');

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let api: FastifyInstance;
let key: Key;
let other: Key;
let alpha: CorpusBrand;
let beta: CorpusBrand;
let cookie: string;
let baseUrl: string;
let path: string;
let signInAs: (member: Key) => Promise<string>;

const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();
/** A day on which a scan left ads out. */
const INCOMPLETE_AT = ago(54);

const LATER = ago(2);
/** After the seeded scans, and before the later one. */
const BETWEEN_MS = Date.now() - 4 * HOUR_MS;

const started = (brand_id: string, ad_id: string): AdStarted => ({
  type: 'AdStarted',
  data: {
    brand_id,
    scan_id: derivedId('scan', `${brand_id} ${LATER}`),
    observed_at: LATER,
    ad_id,
    format: 'image',
    countries: ['US'],
    started_on: utcDate(LATER),
    page_id: '104857600',
    page_name: 'A page',
    novelty: 'news',
    missing_since: null,
    collector: 'tests',
    content: {
      ...BLANK_CONTENT,
      title: HOSTILE,
      body: HOSTILE,
      link_url: 'javascript:alert(1)',
      format: 'image',
    },
  },
});

const append = async (brandId: string, events: readonly AdLibraryEvent[]): Promise<void> => {
  const stream = adLibraryStream(brandId);
  const revision = (await stack.eventStore.last(stream))?.revision ?? -1n;
  await stack.eventStore.append(stream, revision, events, METADATA, `later scans ${brandId}`);
};

/** Alpha gets a scan that left ads out, and one that shows a hostile ad; beta gets more ads than a page shows. */
const recordLater = async (): Promise<void> => {
  const pages = [{ page_id: '104857600', page_name: 'A page', baseline: false }];
  const seen = { complete: false, reliable: false, totals: { seen: 1, active: 2, total: 2 } };
  await append(alpha.id, [
    scanRecorded(alpha.id, INCOMPLETE_AT, { pages, ...seen }),
    started(alpha.id, '9700000001'),
    scanRecorded(alpha.id, LATER, { pages, totals: { seen: 4, active: 4, total: 5, news: 1 } }),
  ]);
  const many = Array.from({ length: MANY_ADS }, (_, n) => started(beta.id, String(9_700_000_100 + n)));
  const totals = { seen: MANY_ADS, active: MANY_ADS + 3, total: MANY_ADS + 4, news: MANY_ADS };
  await append(beta.id, [...many, scanRecorded(beta.id, LATER, { pages, totals })]);
  await stack.projected(await stack.eventStore.head());
};

/** The third ad has a stored picture. */
const storePicture = async (write: (key: string, bytes: Buffer) => Promise<unknown>): Promise<void> => {
  const background = { r: 30, g: 110, b: 160 };
  const bytes = await sharp({ create: { width: 640, height: 400, channels: 3, background } })
    .jpeg()
    .toBuffer();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await write(mediaKeyOf(sha256), bytes);
  const media = { media_kind: 'image', content_type: 'image/jpeg', duration_seconds: null } as const;
  const stored = { ...media, media_url: null, poster_url: null, object_key: mediaKeyOf(sha256) };
  await recordCreative(stack, sha256, [alpha.adIds[2] ?? ''], stored);
};

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  [key, other, api] = await Promise.all([stack.key(), stack.key(), stack.api()]);
  [alpha, beta] = (await stack.seed(['alpha', 'beta'])) as [CorpusBrand, CorpusBrand];
  for (const { id } of [alpha, beta]) await trackingThrough(api).track(key, id);
  const operations = withThumbnails(stack.operations());
  await storePicture((name, bytes) =>
    operations.objectStore.write(
      name,
      (async function* () {
        yield bytes;
      })(),
    ),
  );
  await recordLater();

  baseUrl = `http://127.0.0.1:${await freePort()}`;
  await createAuthorizationTables(stack.pool);
  const connections = createConnections({ ...stack, clock: systemClock, connectionDays: 180 });
  const signIn = resources.use(
    await openMemberSignIn(
      { ...operations, pool: stack.pool, baseUrl, connections } as never,
      { SIGN_IN: 'codes', DATA_DIR: '.' } as never,
    ),
  );
  const pages = signIn.pages({} as never);
  const app = fastify();
  resources.defer(() => app.close());
  await registerMemberPages(app, pages, operations);
  await app.listen({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) });
  signInAs = ({ memberId }) => pages.browsers.open(memberId, 'invitation');
  cookie = await signInAs(key);
  path = `/account/workspaces/${key.workspaceId}/brands/${alpha.slug}`;
}, 120_000);
afterAll(() => resources.disposeAsync());

/** `''` for a browser that is not signed in. */
const visit = (url: string, as = cookie): Promise<Response> =>
  fetch(`${baseUrl}${url}`, { redirect: 'manual', headers: { cookie: `adintel-signed-in=${as}` } });

const asOfThen = (url: string, moment: string): Promise<Reply> =>
  on(api).get(`${url}${url.includes('?') ? '&' : '?'}observed_as_of=${encodeURIComponent(moment)}`, { key });

describe('routes of brand pages', () => {
  test('lead to the sign-in without one', async () => {
    for (const url of [path, `/account/workspaces/${key.workspaceId}/brands`]) {
      const response = await visit(url, '');
      expect([response.status, response.headers.get('location')]).toEqual([303, '/account']);
    }
    expect(
      (await visit(`/account/workspaces/${key.workspaceId}/ads/${alpha.adIds[2]}/picture`, '')).status,
    ).toBe(303);
  });

  test('open after the sign-in that they led to, at the same moment, and only once', async () => {
    const wanted = `${path}?observed_as_of=${encodeURIComponent(LATER)}`;
    const kept = (await visit(wanted, '')).headers.getSetCookie().map((one) => one.split(';')[0] ?? '');
    const account = (cookies: readonly string[], method = 'GET'): Promise<Response> =>
      fetch(`${baseUrl}/account`, { method, redirect: 'manual', headers: { cookie: cookies.join('; ') } });
    expect((await account(kept)).status).toBe(200);
    const signedIn = `adintel-signed-in=${cookie}`;
    expect((await account([...kept, signedIn], 'HEAD')).headers.getSetCookie()).toEqual([]);
    const ofOther = await account([...kept, `adintel-signed-in=${await signInAs(other)}`]);
    expect([ofOther.status, ofOther.headers.getSetCookie()]).toEqual([
      200,
      [expect.stringMatching(/^adintel-page=; Max-Age=0;/)],
    ]);
    const back = await account([...kept, signedIn]);
    expect([back.status, back.headers.get('location')]).toEqual([303, wanted]);
    expect(back.headers.getSetCookie()).toEqual([expect.stringMatching(/^adintel-page=; Max-Age=0;/)]);
    expect((await account([signedIn])).status).toBe(200);
  });

  test('are not kept for the sign-in when their address is too long for a cookie', async () => {
    const long = await visit(`${path}?observed_as_of=${'1'.repeat(2_000)}`, '');
    expect([long.status, long.headers.getSetCookie()]).toEqual([303, []]);
  });

  test('are the only addresses that a sign-in goes on to', async () => {
    const others = [
      'https://other.example/account/workspaces/ws_other/brands',
      '//other.example/account/workspaces/ws_other/brands',
      '/account/workspaces/../../oauth',
      '/account',
      '/account/workspaces/ws_other/brands\r\nset-cookie: a=b',
      'x'.repeat(3_000),
    ];
    for (const address of others) {
      const page = `adintel-page=${Buffer.from(address).toString('base64url')}`;
      const { status } = await fetch(`${baseUrl}/account`, {
        redirect: 'manual',
        headers: { cookie: `adintel-signed-in=${cookie}; ${page}` },
      });
      expect([address, status]).toEqual([address, 200]);
    }
  });

  test('do not exist in a workspace of others, nor for an unknown brand', async () => {
    const unknown = [
      path.replace(key.workspaceId, other.workspaceId),
      `/account/workspaces/${other.workspaceId}/brands`,
      `/account/workspaces/${other.workspaceId}/ads/${alpha.adIds[2]}/picture`,
      `/account/workspaces/${key.workspaceId}/brands/no-such-brand`,
      `/account/workspaces/${key.workspaceId}/ads/404404404/picture`,
    ];
    for (const url of unknown) {
      const response = await visit(url);
      expect([url, response.status]).toEqual([url, 404]);
      expect(await response.text()).toContain('There is no such page in your workspaces.');
    }
  });

  test('refuse a moment or a page that cannot be, with the reason', async () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      [`${path}?observed_as_of=${new Date(Date.now() + 60_000).toISOString()}`, /must not be later than now/],
      [`${path}?observed_as_of=yesterday`, /observed_as_of/],
      [`${path}?cursor=other`, /cursor is invalid/],
    ];
    for (const [url, reason] of refused) {
      const response = await visit(url);
      expect([url, response.status]).toEqual([url, 400]);
      expect(await response.text()).toMatch(reason);
    }
  });

  test('list the tracked brands of the workspace, from the account on', async () => {
    const account = await (await visit('/account')).text();
    const list = `/account/workspaces/${key.workspaceId}/brands`;
    expect(account).toContain(`href="${list}"`);
    expect(await (await visit(list)).text()).toContain(`href="${path}"`);
  });

  test('show what was known at a moment, as REST answers', async () => {
    const moment = new Date().toISOString();
    const { data, headers } = await on(api).get(`/v1/brands/${alpha.id}/daily-activity?as_of=${moment}`, {
      key,
    });
    expect((data as readonly object[]).length).toBeGreaterThan(0);
    const text = await (await visit(`${path}?as_of=${moment}`)).text();
    expect(text).toContain(`: rests on ${String(headers['x-as-of-events'])} events.`);
    expect(text).toContain('As <span id="sense">known at</span>');
    expect(await (await visit(`${path}?as_of=2020-01-01T00:00:00Z`)).text()).toContain(
      'nothing about it was recorded before',
    );
    expect((await visit(`${path}?as_of=yesterday`)).status).toBe(400);
  });

  test('say of a brand that the workspace does not track why no change is listed', async () => {
    const theirs = await signInAs(other);
    const text = await (await visit(path.replace(key.workspaceId, other.workspaceId), theirs)).text();
    expect(text).toContain('this workspace does not track the brand');
  });

  test('answer HEAD with the headers of GET', async () => {
    for (const url of [path, `/account/workspaces/${key.workspaceId}/brands`]) {
      const of = async (method: string) => {
        const headers = { cookie: `adintel-signed-in=${cookie}` };
        const response = await fetch(`${baseUrl}${url}`, { method, headers });
        return [response.status, response.headers.get('content-type'), response.headers.get('cache-control')];
      };
      expect(await of('HEAD')).toEqual(await of('GET'));
    }
  });

  test('send the page without scripts of others, and not to be stored', async () => {
    const { status, headers } = await visit(path);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-\S+' 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; /,
    );
    const script = await visit('/account/files/brand.js', '');
    const again = await fetch(`${baseUrl}/account/files/brand.js`, {
      headers: { 'if-none-match': script.headers.get('etag') ?? '' },
    });
    expect([script.status, again.status]).toEqual([200, 304]);
  });

  test('show nothing of a moment before the first observation, and say so', async () => {
    const text = await (await visit(`${path}?observed_as_of=2020-01-01T00:00:00Z`)).text();
    expect(text).toContain('nothing about it was observed before');
    expect(text).not.toContain('class="tile"');
  });

  test('lead from page to page of what changed, now and as observed by a moment', async () => {
    const first = path.replace(alpha.slug, beta.slug);
    for (const query of ['', `?observed_as_of=${new Date().toISOString()}`]) {
      const ads: string[] = [];
      for (let next: string | undefined = `${first}${query}`; next !== undefined; ) {
        const text: string = await (await visit(next)).text();
        ads.push(...Array.from(text.matchAll(/\/ads\/(\d+)\/picture/g), ([, ad = '']) => ad));
        const [, link]: readonly (string | undefined)[] =
          /href="([^"]+)#radar">Show older changes/.exec(text) ?? [];
        next = link?.replaceAll('&amp;', '&');
      }
      // One of the ads seeded earlier changed, one stopped, and two began.
      expect([ads.length, new Set(ads).size]).toEqual([MANY_ADS + 4, MANY_ADS + 4]);
    }
  });

  test('send the stored picture of an ad, and none of an ad without one', async () => {
    const of = (adId = '') => visit(`/account/workspaces/${key.workspaceId}/ads/${adId}/picture`);
    const picture = await of(alpha.adIds[2]);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect((await sharp(Buffer.from(await picture.arrayBuffer())).metadata()).width).toBe(320);
    expect((await of(alpha.adIds[3])).status).toBe(204);
  });

  test('count against the limit of the member', async () => {
    const member = await stack.key({ plan: 'free' });
    const theirs = await signInAs(member);
    const unknown = `/account/workspaces/${member.workspaceId}/brands/no-such-brand`;
    // The page costs four of the hundred requests of a minute, and a minute may end in between.
    let [visits, refused] = [1, await visit(unknown, theirs)];
    for (; refused.status === 404 && visits <= 50; visits += 1) refused = await visit(unknown, theirs);
    expect(refused.status).toBe(429);
    expect(visits).toBeGreaterThan(25);
    expect(await refused.text()).toContain(`Try again in ${refused.headers.get('retry-after')} s.`);
  });
});

describe.skipIf(CHROMIUM === null)('the page of a brand in a browser', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  const figure = (label: string) =>
    page
      .locator('.tile')
      .filter({ has: page.getByText(label, { exact: true }) })
      .locator('strong');
  const slider = () => page.getByRole('slider', { name: 'As observed by' });
  const settled = async (text: RegExp): Promise<void> => {
    await page.locator('#basis').filter({ hasText: text }).waitFor();
    await expect.poll(() => page.locator('#known[aria-busy]').count()).toBe(0);
  };
  const inspect = async (name: string): Promise<void> => {
    await takeScreenshot(page, `brand-${name}`, true);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(overflow), name).toBe(0);
    await page.evaluate(axe.source);
    const findings = await page.evaluate<string[]>(
      `axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) => id + ': ' + help + ' ' + nodes[0].html))`,
    );
    expect(findings, name).toEqual([]);
  };

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: CHROMIUM_ARGUMENTS });
    resources.defer(() => browser.close());
    context = await browser.newContext({ viewport: DESKTOP, colorScheme: 'light', locale: 'en-GB' });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    await context.addCookies([{ name: 'adintel-signed-in', value: cookie, url: baseUrl }]);
    page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
  }, 120_000);

  test('shows the figures, the plot, shaded days and scans, and tells them in the table', async () => {
    await page.goto(`${baseUrl}/account/workspaces/${key.workspaceId}/brands`);
    await page.setViewportSize(NARROW);
    await inspect('list-phone');
    await page.setViewportSize(DESKTOP);
    await inspect('list');
    await page.getByRole('link', { name: 'alpha' }).click();
    await page.getByRole('heading', { name: 'alpha', level: 1 }).waitFor();
    expect(await figure('Active ads').textContent()).toBe('4');
    const activity = await on(api).get(`/v1/brands/${alpha.id}/daily-activity`, { key });
    const reliable = (activity.data as unknown as { reliable: boolean }[]).filter(
      (day) => day.reliable,
    ).length;
    const name = new RegExp(`^Daily activity from .* Completely observed: ${reliable} of 90 days\\.$`);
    await page.getByRole('img', { name }).waitFor();
    expect(await page.locator('svg[role=img] .scan').count()).toBe(reliable);
    const shaded = (kind: string) => page.locator(`svg[role=img] .shade[fill="url(#${kind})"]`).count();
    expect([await shaded('incomplete'), (await shaded('unobserved')) > 1]).toEqual([1, true]);
    await page.getByText('The same days as a table').click();
    await page.getByRole('row', { name: /\d+ \w+ 2 not known not known not completely$/ }).waitFor();
    expect(await page.getByRole('row', { name: / – not observed$/ }).count()).toBeGreaterThan(1);
    await page.locator('svg[role=img] .day').nth(10).hover();
    expect(await page.locator('.readout').textContent()).toMatch(/: not observed$/);
    await page.getByText('The same days as a table').click();
    await page.mouse.move(0, 0);
  });

  test('shows what changed as cards, with pictures, and words of advertisers as words', async () => {
    const cards = page.locator('.card');
    expect(await cards.count()).toBe(5);
    const loaded =
      '[...document.querySelectorAll(".picture img")].filter((one) => one.naturalWidth > 0).length';
    await page.locator('#radar').scrollIntoViewIfNeeded();
    for (const card of await cards.all()) await card.scrollIntoViewIfNeeded();
    await expect.poll(() => page.evaluate<number>(loaded)).toBe(1);
    await expect.poll(() => page.getByText('Video, no picture available').count()).toBe(3);
    expect(await page.title()).toBe('alpha – Ad intelligence');
    const hostile = cards.filter({ hasText: '<script>' });
    expect(await hostile.getByRole('heading').innerText()).toBe(HOSTILE.replace('\u202E', ''));
    expect(await hostile.getByRole('link').count()).toBe(1);
    expect(
      await cards
        .getByRole('link', { name: /^In the ad library/ })
        .first()
        .getAttribute('href'),
    ).toMatch(/^https:\/\/www\.facebook\.com\/ads\/library\/\?id=\d+$/);
  });

  test('moves over time by keyboard, and shows what REST answers for the moment', async () => {
    await slider().fill(String(Math.ceil(BETWEEN_MS / HOUR_MS)));
    await slider().focus();
    await settled(/^As observed by /);
    const moment = new URL(page.url()).searchParams.get('observed_as_of') ?? '';
    const brand = await asOfThen(`/v1/brands/${alpha.id}`, moment);
    const { headers } = await asOfThen(`/v1/brands/${alpha.id}/daily-activity`, moment);
    const { active_ads, new_ads_30d } = brand.data as { active_ads: number; new_ads_30d: number };
    expect(active_ads).toBe(3);
    expect(await figure('Active ads').textContent()).toBe(String(active_ads));
    expect(await figure('New in 30 days').textContent()).toBe(String(new_ads_30d));
    const [events, late] = [headers['x-as-of-events'], headers['x-as-of-late-events']].map(String);
    const basis = `rests on ${events} events, ${late} of them recorded only later.`;
    expect(await page.locator('#basis').textContent()).toContain(basis);
    expect(await slider().getAttribute('aria-valuetext')).toMatch(/ UTC$/);

    // The link shows the same to others who sign in.
    const shared = await (await visit(new URL(page.url()).pathname + new URL(page.url()).search)).text();
    expect(shared).toContain(`<strong>${active_ads}</strong>`);
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('slider');
    await page.keyboard.press('End');
    await settled(/^All that is known now\.$/);
    expect(await slider().getAttribute('aria-valuetext')).toBe('now');
    expect(new URL(page.url()).search).toBe('');
    expect(await figure('Active ads').textContent()).toBe('4');
    await page.keyboard.press('ArrowLeft');
    await settled(/^As observed by /);
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await settled(/^All that is known now\.$/);
  });

  test('says in words what is wrong, keeps what it shows, and tries again', async () => {
    await page.route('**/brands/alpha?observed_as_of=*', (route) => route.abort());
    await slider().focus();
    await page.keyboard.press('Home');
    await page
      .getByRole('alert')
      .filter({ hasText: 'The service does not respond. The figures are still' })
      .waitFor();
    expect(await figure('Active ads').textContent()).toBe('4');
    await page.unroute('**/brands/alpha?observed_as_of=*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await settled(/^As observed by /);
    expect(await page.getByRole('alert').count()).toBe(0);
    // Another read of the workspace is in the way once.
    const busy = { status: 503, headers: { 'retry-after': '1' }, body: '' };
    await page.route('**/brands/alpha', (route) => route.fulfill(busy), { times: 1 });
    await page.getByRole('link', { name: 'Now', exact: true }).click();
    await settled(/^All that is known now\.$/);
    expect(await page.getByRole('alert').count()).toBe(0);
    // The browser logs requests that fail.
    expect(faults.splice(0).filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
    await page.goto(`${baseUrl}${path}`);
  });

  test('is accessible and fits narrow, wide, light and dark screens', async () => {
    await inspect('light');
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await inspect('dark');
    await page.setViewportSize(NARROW);
    await inspect('narrow-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await inspect('narrow');
    await page.setViewportSize(DESKTOP);
  });

  test('shows figures, plot and table without scripts, and takes a moment from its field', async () => {
    const plain = await browser.newContext({ viewport: DESKTOP, javaScriptEnabled: false });
    await plain.addCookies([{ name: 'adintel-signed-in', value: cookie, url: baseUrl }]);
    const tab = await plain.newPage();
    await tab.goto(`${baseUrl}${path}`);
    await tab.getByText('The same days as a table').waitFor();
    await tab.getByLabel('Moment, in UTC').fill(new Date().toISOString());
    await tab.getByRole('button', { name: 'Show' }).click();
    await tab.getByText(/^As observed by .*rests on/).waitFor();
    await plain.close();
  });

  test('logged no errors in the browser', () => {
    expect(faults).toEqual([]);
  });
});
