import { brandProfile } from '#tests/dsl/site-events.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { findAd, listBrandAds } from '#projections/ads/read.ts';
import { findBrand } from '#projections/brands/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { listRadar } from '#projections/radar/read.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { untilPassed } from '../../stack/read-models.ts';
import { brokenInvariants, rebuildAll } from '../../stack/verify-read-models.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests rule 10: ads follow destinations, links and domains between brands. */

let stack: ApiStack;
let intake: Intake & AsyncDisposable;
let db: ReturnType<typeof openReadDatabase>;

beforeAll(async () => {
  stack = await openApiStack();
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  db = openReadDatabase(DATABASE_URL);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await intake[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00:00.000Z`;

const scan = async (domain: string, day: number, page: string, ads: readonly ObservedAd[]) => {
  const { chunks, end } = scanOf(domain, at(day), ads, { pages: [page] });
  for (const chunk of chunks) await intake.submit(chunk);
  return await intake.submit(end);
};

const register = (domain: string, day: number) =>
  intake.submit(brandProfile({ domain, observed_at: at(day), name: domain }));

const link = (domain: string, page_id: string, day: number, confidence = 0.9, linked = true) =>
  intake.submit({
    type: 'social_page.link',
    brand_domain: domain,
    page_id,
    page_name: null,
    observed_at: at(day),
    role: 'OFFICIAL',
    confidence,
    linked,
  });

type Reply = {
  readonly id: string;
  readonly date: string;
  readonly type: string;
  readonly ad: { readonly id: string };
  readonly active_ads: number;
  readonly total_ads: number;
  readonly new_ads: number;
  readonly retired_ads: number;
};
const parsed = (json: string): Reply =>
  JSON.parse(json.replaceAll(BASE_URL_MARK, 'https://service.example')) as Reply;

/** Figures of a brand; days as `active +new -retired`. */
const figuresOf = async (domain: string) => {
  await untilPassed(stack.pool, await stack.eventStore.head());
  const brandId = brandIdOf(domain);
  const found = await findBrand(db, { id: brandId });
  const { active_ads, total_ads } = parsed(found?.detail ?? '{}');
  const ads = await listBrandAds(db, brandId, { limit: 50, after: null });
  const days = await readDailyActivity(db, brandId, {});
  const radar = await listRadar(db, { brandIds: [brandId], since: at(1) }, { limit: 50, after: null });
  return {
    totals: `${active_ads} of ${total_ads}`,
    ads: ads.items.map((item) => parsed(item).id).toSorted((a, b) => (a < b ? -1 : 1)),
    days: Object.fromEntries(
      days.items.map((item) => {
        const { date, active_ads: active, new_ads, retired_ads } = parsed(item);
        return [date.slice(8), `${active} +${new_ads} -${retired_ads}`];
      }),
    ),
    radar: radar.items.map((item) => `${parsed(item).type} ${parsed(item).ad.id}`),
  };
};

const idOf = (id: number): string => ad(id).ad_id;

/** Opens the intake again, as another release that starts. */
const reopen = async (): Promise<void> => {
  await intake[Symbol.asyncDispose]();
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
};

describe('a host that many advertisers share', () => {
  const BOOK = 'https://www.etsy.com/listing/1';

  it('gives its brand the ads of its own page alone, and those that a scan for it showed first', async () => {
    await register('etsy.com', 1);
    await link('etsy.com', '410000001', 1);
    await scan('author.example', 2, '410000002', [ad(101, { page_id: '410000002', link_url: BOOK })]);
    await scan('author.example', 3, '410000001', [ad(102, { page_id: '410000001', link_url: BOOK })]);
    await scan('etsy.com', 4, '410000003', [
      ad(103, { page_id: '410000003', link_url: 'https://www.etsy.com/' }),
    ]);
    await link('author.example', '410000003', 5);
    expect(await figuresOf('author.example')).toMatchObject({ ads: [idOf(101), idOf(103)] });
    expect(await figuresOf('etsy.com')).toMatchObject({ ads: [idOf(102)] });
  });

  it('identifies a shop below it, when each subdomain is another shop', async () => {
    await register('myshopify.com', 1);
    await register('socks.myshopify.com', 1);
    await scan('reseller.example', 2, '410000004', [
      ad(104, { page_id: '410000004', link_url: 'https://socks.myshopify.com/a' }),
      ad(105, { page_id: '410000004', link_url: 'https://other.myshopify.com/a' }),
    ]);
    expect(await figuresOf('socks.myshopify.com')).toMatchObject({ ads: [idOf(104)] });
    expect(await figuresOf('reseller.example')).toMatchObject({ ads: [idOf(105)] });
  });

  /** Gives ads by a link and forgets it, as if a list without the host had given them. */
  const attributeWith = async (domain: string, page: string): Promise<() => Promise<void>> => {
    await link(domain, page, 1);
    return async () => {
      await stack.pool.query('delete from ingest.linked_page where social_page_id = $1', [page]);
      await stack.pool.query('delete from ingest.page_link where social_page_id = $1', [page]);
      await stack.pool.query(`update ingest.shared_hosts set version = 'another'`);
    };
  };

  it('gives the ads back when the service starts with a list that has it, also ended ones, and without news', async () => {
    const other = 'https://www.redbubble.com/book';
    const page = '410000006';
    await register('redbubble.com', 1);
    await scan('writer.example', 2, page, [ad(106, { page_id: page, link_url: other })]);
    const forget = await attributeWith('redbubble.com', page);
    await scan('writer.example', 3, page, [
      ad(106, { page_id: page, link_url: other }),
      ad(107, { page_id: page, link_url: other, is_active: false }),
      ad(108, { page_id: page, link_url: other }),
    ]);
    const before = await figuresOf('redbubble.com');
    expect(before).toMatchObject({ totals: '2 of 3' });
    expect(await figuresOf('writer.example')).toMatchObject({ totals: '0 of 0' });
    await forget();
    await reopen();
    expect(await figuresOf('redbubble.com')).toMatchObject({
      totals: '0 of 0',
      ads: [],
      radar: before.radar,
    });
    const back = await figuresOf('writer.example');
    expect(back).toMatchObject({ totals: '2 of 3', ads: [idOf(106), idOf(107), idOf(108)], radar: [] });
    const head = await stack.eventStore.head();
    await reopen();
    expect(await stack.eventStore.head()).toBe(head);

    await scan('writer.example', 6, page, [
      ad(106, { page_id: page, link_url: other }),
      ad(108, { page_id: page, link_url: other, is_active: false }),
    ]);
    expect(await figuresOf('writer.example')).toMatchObject({
      totals: '1 of 3',
      radar: [`ad_stopped ${idOf(108)}`],
    });
    expect(await brokenInvariants(stack.pool)).toEqual([]);
  });
});

describe('an ad moves without news', () => {
  it('when its destination moves to the domain of another brand, and back', async () => {
    const [from, to, page] = ['dest-a.example', 'dest-b.example', '820000001'];
    await register(from, 1);
    await register(to, 1);
    const one = ad(11, { page_id: page, link_url: `https://www.${from}/one` });
    const two = ad(12, { page_id: page, link_url: `https://${from}/two` });
    const moved = { ...one, link_url: `https://shop.${to}/one` };
    await scan(from, 2, page, [one, two]);
    await scan(from, 3, page, [moved, two]);
    expect(await figuresOf(from)).toEqual({
      totals: '1 of 1',
      ads: [idOf(12)],
      days: { '02': '2 +0 -0', '03': '1 +0 -0' },
      radar: [],
    });
    expect(await figuresOf(to)).toEqual({
      totals: '1 of 1',
      ads: [idOf(11)],
      days: { '03': '1 +0 -0' },
      radar: [`destination_changed ${idOf(11)}`],
    });
    await scan(from, 4, page, [{ ...one, link_url: ' ' }, two]);
    expect((await figuresOf(to)).totals, 'a blank changes nothing').toBe('1 of 1');
    await scan(from, 5, page, [one, two]);
    expect(await figuresOf(from)).toMatchObject({ totals: '2 of 2', ads: [idOf(11), idOf(12)] });
    expect(await figuresOf(to)).toMatchObject({
      totals: '0 of 0',
      ads: [],
      days: { '03': '1 +0 -0', '04': '1 +0 -0', '05': '0 +0 -0' },
    });
  });

  it('when its page is linked to another brand, by the link of the highest confidence, and when the link ends', async () => {
    const [from, to, other, page] = ['link-a.example', 'link-b.example', 'link-c.example', '820000002'];
    const ads = [21, 22, 23].map((id) => ad(id, { page_id: page }));
    await scan(from, 2, page, ads);
    await scan(from, 4, page, ads.slice(0, 2));
    await register(to, 1);
    await register(other, 1);
    expect(await link(to, page, 5, 0.8)).toEqual({ events: 7, totals: null });
    expect(await figuresOf(from)).toMatchObject({
      totals: '0 of 0',
      ads: [],
      days: { '02': '3 +0 -0', '04': '3 +0 -0' },
      radar: [],
    });
    expect(await figuresOf(to)).toMatchObject({ totals: '3 of 3', days: {}, radar: [] });
    await link(other, page, 6, 0.7);
    expect((await figuresOf(to)).totals, 'a link of a lower confidence').toBe('3 of 3');
    await scan(from, 7, page, ads.slice(0, 2));
    expect(await figuresOf(to), 'the missing ad stops with its present brand').toMatchObject({
      totals: '2 of 3',
      days: { '07': '2 +0 -1' },
      radar: [`ad_stopped ${idOf(23)}`],
    });
    await link(to, page, 8, 0.8, false);
    expect((await figuresOf(to)).totals).toBe('0 of 0');
    expect(await figuresOf(other)).toMatchObject({ totals: '2 of 3', ads: ads.map(({ ad_id }) => ad_id) });
    await link(other, page, 9, 0.7, false);
    expect(await figuresOf(from)).toMatchObject({ totals: '2 of 3', radar: [] });
  });

  it('when the domain that it leads to is registered', async () => {
    const [from, to, page] = ['reg-a.example', 'reg-b.example', '820000003'];
    const ads = [ad(31, { page_id: page, link_url: `https://sale.${to}/` }), ad(32, { page_id: page })];
    await scan(from, 2, page, ads);
    await register(to, 3);
    expect(await figuresOf(from)).toMatchObject({ totals: '1 of 1', ads: [idOf(32)] });
    expect(await figuresOf(to)).toMatchObject({ totals: '1 of 1', ads: [idOf(31)], radar: [] });
    await register(`sale.${to}`, 4);
    expect((await figuresOf(to)).totals, 'the longest domain counts').toBe('0 of 0');
    expect((await figuresOf(`sale.${to}`)).ads).toEqual([idOf(31)]);
  });

  it('and moves stay coherent when scans arrive late', async () => {
    const [from, to, page] = ['late-a.example', 'late-b.example', '820000004'];
    const one = ad(41, { page_id: page, link_url: `https://${from}/one` });
    const two = ad(42, { page_id: page });
    await register(to, 1);
    await scan(from, 2, page, [one, two]);
    await scan(from, 9, page, [two]);
    await scan(from, 5, page, [{ ...one, link_url: `https://${to}/` }, two]);
    expect(await figuresOf(to), 'as in the order of observation').toEqual({
      totals: '1 of 1',
      ads: [idOf(41)],
      days: { '05': '1 +0 -0', '09': '1 +0 -0' },
      radar: [`destination_changed ${idOf(41)}`],
    });
    expect(await figuresOf(from)).toEqual({
      totals: '1 of 1',
      ads: [idOf(42)],
      days: { '02': '2 +0 -0', '05': '1 +0 -0', '09': '1 +0 -0' },
      radar: [],
    });
    await scan(from, 4, page, [two]);
    await link(to, page, 3);
    await scan(to, 8, page, [one]);
  });

  it('when a scan shows it and registers the domain of its destination, and the scan counts for no day of the former brand', async () => {
    const shown = ad(51, { page_id: '820000005', link_url: 'https://joins.example/' });
    await scan('first.example', 1, '820000005', [shown]);
    await scan('joins.example', 2, '820000006', [shown]);
    expect(await figuresOf('first.example')).toMatchObject({ totals: '0 of 0', days: { '01': '1 +0 -0' } });
    expect((await figuresOf('first.example')).days).not.toHaveProperty('02');
    expect(await figuresOf('joins.example')).toMatchObject({ totals: '1 of 1', days: { '02': '1 +0 -0' } });
  });

  it('by each of several scans of one time, in the order of their ids', async () => {
    const shownTo = (link_url: string) => [ad(52, { page_id: '820000007', link_url })];
    for (const domain of ['tie-a.example', 'tie-b.example', 'tie-c.example']) await register(domain, 1);
    await scan('tie-a.example', 2, '820000007', shownTo('https://tie-a.example/'));
    const scans = ['tie-b.example', 'tie-c.example']
      .map((domain) => ({
        domain,
        ...scanOf(domain, at(3), shownTo(`https://${domain}/`), { pages: ['820000007'] }),
      }))
      .toSorted((a, b) => (a.end.scan_id < b.end.scan_id ? -1 : 1));
    for (const { chunks, end } of scans) {
      for (const message of [...chunks, end]) await intake.submit(message);
    }
    const [first = '', last = ''] = scans.map(({ domain }) => domain);
    expect(await figuresOf(last)).toMatchObject({ totals: '1 of 1', days: { '03': '1 +0 -0' } });
    expect(await figuresOf(first)).toMatchObject({ totals: '0 of 0', days: { '03': '0 +0 -0' } });
  });

  it('without a page as news of its own brand, if a complete scan for the brand that was scanned came before', async () => {
    const pageless = (id: number, domain: string) =>
      ad(id, { page_id: null, link_url: `https://${domain}/`, started_on: at(4).slice(0, 10) });
    for (const domain of ['search-a.example', 'search-b.example']) await register(domain, 1);
    await scan('search-a.example', 3, '820000008', [pageless(53, 'search-a.example')]);
    await scan('search-a.example', 5, '820000008', [pageless(54, 'search-b.example')]);
    expect((await figuresOf('search-b.example')).days).toEqual({ '05': '1 +1 -0' });
  });

  it('when its page is linked to a brand that nothing named before, and so do the ads that lead to the brand', async () => {
    const [from, to, page, other] = ['link-d.example', 'link-e.example', '820000010', '820000011'];
    await scan(from, 2, page, [ad(56, { page_id: page })]);
    await scan(from, 3, other, [ad(57, { page_id: other, link_url: `https://${to}/` })]);
    await link(to, other, 4, 0.9, false);
    await untilPassed(stack.pool, await stack.eventStore.head());
    expect(await findBrand(db, { id: brandIdOf(to) }), 'an end of a link names no brand').toBeNull();
    expect(await link(to, page, 4)).toEqual({ events: 6, totals: null });
    expect(await figuresOf(from)).toMatchObject({ totals: '0 of 0', ads: [] });
    expect(await figuresOf(to)).toMatchObject({ totals: '2 of 2', ads: [idOf(56), idOf(57)], radar: [] });
    expect(await findAd(db, idOf(56))).not.toBeNull();
    expect(await link(to, page, 4), 'observed again').toEqual({ events: 0, totals: null });
  });

  it('and no reply is as of a scan that turns out to be no look', async () => {
    const [own, other, page] = ['look-a.example', 'look-b.example', '820000009'];
    await link(own, page, 1);
    await scan(own, 2, page, [ad(55, { page_id: page, link_url: `https://${own}/` })]);
    await scan(own, 3, page, []);
    await scan(own, 5, page, []);
    await scan(other, 7, page, []);
    const seenAt = async (): Promise<Readonly<Record<string, string | null>>> => {
      await untilPassed(stack.pool, await stack.eventStore.head());
      const brandId = brandIdOf(own);
      const schemas = [
        'ads',
        'radar',
        'signals',
        'pages',
        'creatives',
        'velocity',
        'daily_activity',
        'social_pages',
      ];
      const named = await Promise.all(
        schemas.map(async (schema) => [schema, await readScannedAt(db, schema, brandId)] as const),
      );
      const found = await findBrand(db, { id: brandId });
      return { ...Object.fromEntries(named), brands: found?.as_of ?? null };
    };
    expect(new Set(Object.values(await seenAt()))).toEqual(new Set([at(7)]));
    await link(own, page, 6, 0.9, false);
    expect(new Set(Object.values(await seenAt()))).toEqual(new Set([at(5)]));
  });

  it('with figures that agree, and tables that a rebuild yields again', async () => {
    await untilPassed(stack.pool, await stack.eventStore.head());
    expect(await brokenInvariants(stack.pool)).toEqual([]);
    await stack.stopProjector();
    const { live, rebuilt } = await rebuildAll(stack.pool, stack.eventStore);
    expect(rebuilt).toEqual(live);
  }, 120_000);
});
