import type { PageRole } from '#contracts/observations/social-page-link.ts';
import { CATEGORY_PATHS } from '../generators/categories.ts';
import { BRAND_FIRST, BRAND_SECOND, CREATOR_FIRST, CREATOR_SECOND, type Language } from './phrases.ts';
import { FOR, Random } from './seeded-random.ts';

export type CorpusSize = {
  readonly seed: number;
  readonly brands: number;
  /** Distinct ads of the first `days` days. About a third already run on the first day. */
  readonly ads: number;
  readonly days: number;
};

export type DemoPage = {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly role: PageRole;
  readonly confidence: number;
  /** Only a shared creator page has several brands. */
  readonly brands: readonly number[];
  /** Counted from the first day of the corpus; `null` when the link never ends. */
  readonly linkedFrom: number;
  readonly linkedUntil: number | null;
  /** The other ads of the page follow in sequence. */
  readonly firstAd: number;
  readonly ads: number;
};

export type DemoBrand = {
  readonly index: number;
  readonly name: string;
  readonly domain: string;
  readonly categoryPath: readonly [string, string, string];
  readonly country: string;
  readonly language: Language;
  readonly tracksDaily: boolean;
  /** Weekday of a weekly scan, and day of the first scan. */
  readonly offset: number;
  readonly collector: 'web' | 'api';
  /** Another version of the collector is used from this day; `null` without a change. */
  readonly collectorSwitch: number | null;
  readonly sales: readonly { readonly from: number; readonly to: number }[];
  readonly burst: number;
  /** Start of the first ad; `null` when ads ran before the corpus. */
  readonly launch: number | null;
  readonly hasApp: boolean;
  readonly pages: number[];
};

export type World = CorpusSize & {
  readonly brandList: readonly DemoBrand[];
  readonly pageList: readonly DemoPage[];
};

/** One brand in four is scanned daily, the others weekly. */
const DAILY_EVERY = 4;
/** One weekly scanned brand in eight starts to advertise during the corpus. */
const NEWCOMER_EVERY = 8;
const NEWCOMER_AT = 6;
const API_SHARE = 0.15;
const SWITCH_SHARE = 0.2;
const APP_SHARE = 0.12;
const PAGES_MAX = 5;
const BRANDS_PER_SHARED_PAGE = 12;
const SHARED_PAGE_WEIGHT = 0.6;
const LATE_LINK_SHARE = 0.15;
const UNLINK_SHARE = 0.04;

export const buildWorld = (size: CorpusSize): World => {
  const brandList = Array.from({ length: size.brands }, (_, index) => brandAt(size, index));
  const drafts = [...brandList.flatMap((brand) => ownPages(size, brand)), ...sharedPages(size)];
  const total = drafts.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  const pageList = drafts.map(({ weight, ...page }, index) => {
    const firstAd = Math.round((size.ads * before) / total);
    before += weight;
    const ads = Math.round((size.ads * before) / total) - firstAd;
    for (const brand of page.brands) brandList[brand]?.pages.push(index);
    return { ...page, index, id: pageIdOf(size.seed, index), firstAd, ads };
  });
  return { ...size, brandList, pageList };
};

const brandAt = ({ seed, days }: CorpusSize, index: number): DemoBrand => {
  const random = new Random(seed, FOR.brand, index);
  const { name, domain } = nameOf(index);
  const tracksDaily = index % DAILY_EVERY === 0;
  return {
    index,
    name,
    domain,
    categoryPath: random.pick(CATEGORY_PATHS),
    country: random.chance(0.88) ? 'US' : random.pick(['CA', 'GB', 'AU']),
    language: random.chance(0.9) ? 'en' : random.pick(['es', 'fr'] as const),
    tracksDaily,
    offset: tracksDaily ? 0 : random.below(Math.min(7, days)),
    collector: random.chance(API_SHARE) ? 'api' : 'web',
    collectorSwitch: random.chance(SWITCH_SHARE) ? Math.floor(days / 2) + random.between(-5, 5) : null,
    sales: Array.from({ length: random.between(1, 2) }, () => {
      const from = random.below(days);
      return { from, to: from + random.between(2, 4) };
    }),
    burst: random.between(Math.floor(days / 3), days - 1),
    launch: launchOf({ seed, days }, index),
    hasApp: random.chance(APP_SHARE),
    pages: [],
  };
};

/** A day in the second half, so that earlier scans show no ad and later ones the first. */
const launchOf = ({ seed, days }: Pick<CorpusSize, 'seed' | 'days'>, index: number): number | null => {
  if (index % NEWCOMER_EVERY !== NEWCOMER_AT) return null;
  return Math.floor(days * (0.55 + 0.2 * new Random(seed, FOR.launch, index).next()));
};

/** Two words, with a number once the pairs are used up. */
const nameOf = (index: number): { name: string; domain: string } => {
  const first = index % BRAND_FIRST.length;
  const round = Math.floor(index / BRAND_FIRST.length);
  const second = (round + first * 7) % BRAND_SECOND.length;
  const edition = Math.floor(round / BRAND_SECOND.length);
  const words: (string | undefined)[] = [
    BRAND_FIRST[(first * 17) % BRAND_FIRST.length],
    BRAND_SECOND[second],
  ];
  if (edition > 0) words.push(String(edition + 1));
  return { name: words.join(' '), domain: `${words.join('-').toLowerCase()}.example` };
};

type Draft = Omit<DemoPage, 'index' | 'id' | 'firstAd' | 'ads'> & { readonly weight: number };

const ownPages = ({ seed, days }: CorpusSize, brand: DemoBrand): Draft[] => {
  const random = new Random(seed, FOR.page, brand.index);
  // A few brands run most of the ads, as in a real ad library.
  const brandWeight = 0.3 + 6 * random.next() ** 3;
  const official: Draft = {
    name: brand.name,
    role: 'OFFICIAL',
    confidence: 1,
    brands: [brand.index],
    linkedFrom: 0,
    linkedUntil: null,
    weight: brandWeight,
  };
  const others = Array.from({ length: Math.floor(PAGES_MAX * random.next() ** 2) }, (): Draft => {
    const isCreator = random.chance(0.6);
    const linkedFrom = random.chance(LATE_LINK_SHARE) ? random.between(1, days - 1) : 0;
    const region = random.pick(['US', 'Canada', 'UK', 'Outlet']);
    return {
      name: isCreator ? creatorName(random) : `${brand.name} ${region}`,
      role: isCreator ? 'CREATOR' : 'REGIONAL',
      confidence: isCreator ? 0.7 : 0.95,
      brands: [brand.index],
      linkedFrom,
      linkedUntil: random.chance(UNLINK_SHARE) ? linkedFrom + random.between(10, days) : null,
      weight: brandWeight * random.between(8, 30) * 0.01,
    };
  });
  return [official, ...others];
};

const sharedPages = ({ seed, brands }: CorpusSize): Draft[] => {
  if (brands < 2) return [];
  return Array.from({ length: Math.ceil(brands / BRANDS_PER_SHARED_PAGE) }, (_, index): Draft => {
    const random = new Random(seed, FOR.shared, index);
    const members = new Set<number>();
    for (let draw = 0; draw < 3 || members.size < 2; draw += 1) members.add(random.below(brands));
    return {
      name: creatorName(random),
      role: 'CREATOR',
      confidence: 0.6,
      brands: [...members].toSorted((a, b) => a - b),
      linkedFrom: 0,
      linkedUntil: null,
      weight: SHARED_PAGE_WEIGHT,
    };
  });
};

const creatorName = (random: Random): string =>
  `${random.pick(CREATOR_FIRST)} ${random.pick(CREATOR_SECOND)}`;

/** 15 digits. The stride and the random part keep consecutive ids from looking sequential. */
const pageIdOf = (seed: number, index: number): string =>
  String(101_000_000_000_000 + index * 104_729 + new Random(seed, FOR.link, index).below(104_729));

/** Daily scanned ones first, then by number of ads. */
export const busiestBrands = ({ brandList, pageList }: World, count: number): readonly DemoBrand[] => {
  const adsOf = (brand: DemoBrand): number =>
    brand.pages.reduce((sum, page) => sum + (pageList[page]?.ads ?? 0), 0);
  return brandList
    .toSorted(
      (a, b) => Number(b.tracksDaily) - Number(a.tracksDaily) || adsOf(b) - adsOf(a) || a.index - b.index,
    )
    .slice(0, count);
};
