import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { categoryIdOf } from '#domain/ids.ts';
import { copyKeyOf, socialPages } from '#projections/social-pages/project.ts';
import { listReusedCopy, listSocialPages, readLeakage } from '#projections/social-pages/read.ts';
import { listHubs, readNetworkOfCategory } from '#projections/social-pages/read-network.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import {
  brand,
  comeBack,
  detail,
  idOf,
  link,
  orders,
  parsed,
  publish,
  quarantine,
  revise,
  reword,
  start,
  stop,
  unlink,
} from './fixtures/network-events.ts';
import { runs, seedOf } from '#tests/property-seed.ts';

/** A plain count of the ads at the end is expected, for any interleaving of the streams and any batch sizes. */
const BRANDS = ['a', 'b', 'c'] as const;
const PAGES = ['200000001', '200000002', '200000003', '200000004'] as const;
const TEXTS = ['Warm socks', 'WARM socks!', 'Cold feet', '{{product.name}}', 'Something else', null] as const;
const PUBLICITY = TEXTS.length - 1;
const SOCKS = { id: categoryIdOf(['Socks']), slug: 'socks', name: 'Socks' };
const ADS = 14;
const STEPS = 100;

type Ad = { readonly brand: string; page: string | null; body: string | null; live: boolean };
type Link = { readonly brand: string; readonly page: string };

const storyOf = (draws: readonly (readonly [kind: number, who: number, where: number, what: number])[]) => {
  const events: GivenEvent[] = BRANDS.map((name) => brand(name, { category_path: [SOCKS] }));
  const hidden = new Set<string>();
  const ads = new Map<string, Ad>();
  const links = new Map<string, Link>();
  for (const [kind, who, where, what] of draws) {
    const id = `90000000${String(who).padStart(2, '0')}`;
    const name = BRANDS[who % BRANDS.length] as string;
    const page = PAGES[where % PAGES.length] as string;
    const body = TEXTS[what % TEXTS.length] ?? null;
    const ad = ads.get(id);
    if (kind === 0 && what === PUBLICITY && where % PAGES.length === 0) {
      const isPublic = hidden.delete(name);
      if (!isPublic) hidden.add(name);
      events.push(publish(name, isPublic));
    } else if (kind === 0) {
      const [change, linked] = [what % 3, `${name} ${page}`];
      if (change === 0) links.set(linked, { brand: name, page });
      else links.delete(linked);
      events.push((change === 0 ? link : change === 1 ? unlink : quarantine)(name, page));
    } else if (ad === undefined) {
      const named = where % 5 === 0 ? null : page;
      ads.set(id, { brand: name, page: named, body, live: true });
      events.push(start(name, id, { page: named, body }));
    } else if (ad.live && kind < 4) {
      ad.live = false;
      events.push(stop(name, id, { page: ad.page }));
    } else if (!ad.live) {
      ad.live = true;
      events.push(comeBack(name, id, { page: ad.page }));
    } else if (kind === 4 || body === null) {
      ad.page ??= page;
      events.push(detail(name, id, { page: ad.page }));
    } else {
      events.push(kind === 5 ? revise(name, id, ad.body, body) : reword(name, id, body));
      ad.body = body;
    }
  }
  return { events, ads: [...ads.values()], links: [...links.values()], hidden };
};

const byPage = (one: readonly unknown[], other: readonly unknown[]): number =>
  String(one[0]) < String(other[0]) ? -1 : 1;

const counted = <T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(items, key)].map(([name, of]) => [name, of.length]));

/** Counts the pages that two public brands share by live ads or by links. Includes brands that share none. */
const networkOf = (onPages: readonly Ad[], links: readonly Link[], hidden: ReadonlySet<string>) => {
  const shown = BRANDS.filter((name) => !hidden.has(name));
  const pagesOf = (name: string): ReadonlySet<string | null> =>
    new Set([...onPages, ...links].filter((one) => one.brand === name).map(({ page }) => page));
  const pairs = shown.flatMap((one, place) =>
    shown.slice(place + 1).map((other) => ({
      pair: `${one}-${other}`,
      pages: pagesOf(one).intersection(pagesOf(other)).size,
    })),
  );
  const linked = pairs.filter(({ pages }) => pages > 0);
  const apart = shown.filter((name) => !linked.some(({ pair }) => pair.includes(name)));
  return { links: linked.map(({ pair, pages }) => `${pair} ${pages}`).toSorted(), apart: apart.length };
};

const expected = ({ ads, links, hidden }: Omit<ReturnType<typeof storyOf>, 'events'>) => {
  const live = ads.filter((ad) => ad.live);
  const linkedToAny = new Set(links.map(({ page }) => page));
  const ofBrand = (name: string) => {
    const own = live.filter((ad) => ad.brand === name);
    const linked = new Set(links.filter((one) => one.brand === name).map(({ page }) => page));
    const reused: Record<string, readonly [number, number]> = {};
    for (const [key, of] of Map.groupBy(live, ({ body }) => copyKeyOf(body) ?? '')) {
      const brandAds = of.filter((ad) => ad.brand === name && (ad.page === null || linked.has(ad.page)));
      const foreign = of.filter((ad) => ad.page !== null && !linked.has(ad.page));
      if (key !== '' && brandAds.length > 0 && foreign.length > 0)
        reused[key] = [brandAds.length, foreign.length];
    }
    return {
      pages: [...linked]
        .map((page) => [
          page,
          own.filter((ad) => ad.page === page).length,
          ads.filter((ad) => ad.brand === name && ad.page === page).length,
        ])
        .toSorted(byPage),
      leakage: [
        own.length,
        own.filter(({ page }) => page !== null && linked.has(page)).length,
        own.filter(({ page }) => page !== null && !linked.has(page) && linkedToAny.has(page)).length,
        own.filter(({ page }) => page !== null && !linkedToAny.has(page)).length,
        own.filter(({ page }) => page === null).length,
      ],
      reused,
    };
  };
  const onPages = live.filter((ad) => ad.page !== null && !hidden.has(ad.brand));
  const hubs = [...counted(onPages, ({ page }) => page ?? '')]
    .map(([page, active]) => [
      page,
      new Set(onPages.filter((ad) => ad.page === page).map((ad) => ad.brand)).size,
      active,
    ])
    .filter(([, brands]) => Number(brands) > 1)
    .toSorted(byPage);
  return { brands: BRANDS.map(ofBrand), hubs, network: networkOf(onPages, links, hidden), leftovers: 0 };
};

/** Rows with zero counts would make the tables depend on batch sizes, and a replay would differ. */
const leftovers = async (db: ReadDatabase): Promise<number> => {
  const tables = ['run', 'copy_run', 'copy_page', 'copy_total'];
  const counts = tables.map(
    (table) =>
      `(select count(*) from social_pages.${table} where active_ads = 0 ${table === 'run' ? 'and total_ads = 0' : ''})`,
  );
  const rows = await db.query<{ leftovers: number }>({
    sql: `select (${counts.join(' + ')})::int as leftovers`,
    values: [],
  });
  return rows[0]?.leftovers ?? -1;
};

const shownNetwork = async (db: ReadDatabase) => {
  const network = await readNetworkOfCategory(db, SOCKS.id);
  if (network === null) return { links: [], apart: 0 };
  const { links, brands_without_link } = JSON.parse(network.replaceAll('\u0001', ''));
  const nameOf = (id: string): string => BRANDS.find((name) => idOf(name) === id) ?? id;
  return {
    links: (links as { brand_ids: string[]; shared_pages: number }[])
      .map(({ brand_ids, shared_pages }) => `${brand_ids.map(nameOf).toSorted().join('-')} ${shared_pages}`)
      .toSorted(),
    apart: brands_without_link,
  };
};

const shown = async (db: ReadDatabase) => {
  const brands = [];
  for (const name of BRANDS) {
    const id = idOf(name);
    const leakage = JSON.parse((await readLeakage(db, id)).data);
    brands.push({
      pages: parsed((await listSocialPages(db, id)).items)
        .map(({ page_id, active_ads, total_ads }) => [page_id, active_ads, total_ads])
        .toSorted(byPage),
      leakage: [
        leakage.active_ads,
        leakage.own_page_ads,
        leakage.third_party_ads,
        leakage.unlinked_page_ads,
        leakage.unnamed_page_ads,
      ],
      reused: Object.fromEntries(
        parsed((await listReusedCopy(db, id)).items).map(({ body, brand_ads, foreign_ads }) => [
          copyKeyOf(body),
          [brand_ads, foreign_ads],
        ]),
      ),
    });
  }
  const hubs = parsed((await listHubs(db, { limit: 100, after: null })).items)
    .map(({ page, brands: of, active_ads }) => [(page as { page_id: string }).page_id, of, active_ads])
    .toSorted(byPage);
  return { brands, hubs, network: await shownNetwork(db), leftovers: await leftovers(db) };
};

const draw = fc.tuple(
  fc.nat({ max: 6 }),
  fc.nat({ max: ADS - 1 }),
  fc.nat({ max: 19 }),
  fc.nat({ max: TEXTS.length - 1 }),
);
const stories = fc.sample(fc.array(draw, { minLength: STEPS, maxLength: STEPS }), {
  numRuns: runs(2),
  seed: seedOf(20_261_121),
});

describe('counts of social pages, copies and rosters', () => {
  it.each(stories)('equal a plain count of the ads that run at the end', async (...draws) => {
    const story = storyOf(draws);
    for (const events of orders(story.events)) {
      await given(events)
        .into(socialPages)
        .shows(shown, expected(story) as never);
    }
  });
});
