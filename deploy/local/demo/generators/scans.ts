import { DAY_MS, HOUR_MS, utcDateOfMs } from '#contracts/values/time.ts';
import {
  type AdLibraryScanChunk,
  type AdLibraryScanEnd,
  type BrandedContent,
  CHUNK_ADS_MAX,
  type ObservedAd,
  type ScanCoverage,
} from '#contracts/observations/ad-library-scan.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { PageClaim } from '#contracts/observations/social-page-link.ts';
import { scanIdOf } from '#domain/ids.ts';
import { creatives } from './creative-files.ts';
import { operators } from './operators.ts';
import { pages as landingPages } from './landing-pages.ts';
import { sites } from './sites.ts';
import { storefronts } from './storefronts.ts';
import { traffic } from './traffic.ts';
import { adIdOf, type Collector, contentOn, datedMedia } from './ad-content.ts';
import { type Life, lifeOf, shownOn } from './ad-lifecycle.ts';
import { type Pulse, type PulseAd, pulseAdsAt } from '../world/pulse.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import { buildWorld, type CorpusSize, type DemoBrand, type DemoPage, type World } from '../world/world.ts';

/** A chunk with carousels still has to fit into one message. */
const CHUNK_ADS = Math.min(200, CHUNK_ADS_MAX);
const INCOMPLETE_SHARE = 0.05;
const PARTIAL_SHARE = 0.04;
const BLANK_SHARE = 0.03;
const SKIPPED_SHARE = 0.01;
/** Scans start at 02:00 UTC and spread over four hours, in the order of the brands. */
const SCANS_FROM_MS = 2 * HOUR_MS;
const SCANS_SPREAD_MS = 4 * HOUR_MS;

/**
 * Each generator depends only on the seed. Dated within the corpus and published once, before the scans. `firstDayMs`
 * is midnight of its first day.
 */
const SIDE_OBSERVATIONS: readonly ((world: World, firstDayMs: number) => Iterable<Observation>)[] = [
  landingPages,
  creatives,
  traffic,
  sites,
  storefronts,
  operators,
];

export type CorpusOptions = CorpusSize & {
  /** With a media server an archive observes the files, and the corpus has none. */
  readonly pictures?: boolean | undefined;
  /** The day after the last one, `YYYY-MM-DD`. */
  readonly until: string;
};

/**
 * Brand profiles first, then ad library scans day by day. The same options give the same observations, byte for byte.
 * Ads are not held in memory.
 */
export function* demoObservations(options: CorpusOptions): Generator<Observation> {
  const world = buildWorld(options);
  const firstDayMs = Date.parse(`${options.until}T00:00:00.000Z`) - options.days * DAY_MS;
  for (const brand of world.brandList) yield profileOf(brand, firstDayMs);
  for (const generate of SIDE_OBSERVATIONS) {
    if (generate === creatives && options.pictures) continue;
    yield* generate(world, firstDayMs);
  }
  for (let day = 0; day < options.days; day += 1) {
    const dayMs = firstDayMs + day * DAY_MS;
    for (const page of world.pageList) yield* linksOf(world, page, day, dayMs);
    for (const brand of world.brandList) {
      if (isScanDay(world, brand, day)) yield* scanOf(world, brand, day, dayMs);
    }
  }
}

export const isScanDay = (world: World, brand: DemoBrand, day: number): boolean => {
  if (day < brand.offset) return false;
  if (day === brand.offset) return true;
  if (!brand.tracksDaily && (day - brand.offset) % 7 !== 0) return false;
  return !new Random(world.seed, FOR.scan, brand.index, day, 1).chance(SKIPPED_SHARE);
};

const profileOf = (brand: DemoBrand, dayMs: number): Observation => ({
  type: 'brand.profile',
  domain: brand.domain,
  observed_at: new Date(dayMs).toISOString(),
  name: brand.name,
  description: `Synthetic demo brand. ${brand.name} is made up and sells ${brand.categoryPath[2].toLowerCase()}.`,
  url: `https://www.${brand.domain}/`,
  logo_url: null,
  country: brand.country,
  category_path: [...brand.categoryPath],
  is_public: true,
  indexable: true,
});

export function* linksOf(world: World, page: DemoPage, day: number, dayMs: number): Generator<Observation> {
  if (day !== page.linkedFrom && day !== page.linkedUntil) return;
  for (const index of page.brands) {
    const brand = world.brandList[index];
    if (brand === undefined) continue;
    yield {
      type: 'social_page.link',
      brand_domain: brand.domain,
      page_id: page.id,
      page_name: page.name,
      observed_at: new Date(dayMs + HOUR_MS).toISOString(),
      role: claimOf(world, page),
      confidence: page.confidence,
      linked: day === page.linkedFrom,
    };
  }
}

export const scanTimeMs = (world: World, brand: DemoBrand): number =>
  SCANS_FROM_MS + Math.floor((brand.index * SCANS_SPREAD_MS) / world.brands);

export function* scanOf(
  world: World,
  brand: DemoBrand,
  day: number,
  dayMs: number,
): Generator<AdLibraryScanChunk | AdLibraryScanEnd> {
  const { pages, complete, cut, blank } = coverageOf(world, brand, day);
  const collector = collectorOn(brand, day);
  const scannedAt = new Date(dayMs + scanTimeMs(world, brand)).toISOString();
  const key = {
    // Not of the time, so that ids that follow from it are the same in each new demo.
    scan_id: scanIdOf(brand.domain, `day ${day}`, `demo ${world.seed}`),
    brand_domain: brand.domain,
    scanned_at: scannedAt,
  };
  const ads = function* (): Generator<ObservedAd> {
    for (const { page, life } of shownAds(world, pages, day, cut)) {
      yield observe(world, page, life, { day, dayMs, collector, blank });
    }
  };
  yield* chunksOf(key, ads(), {
    pages: pages.map(({ id, name }) => ({ page_id: id, page_name: name })),
    countries: ['US'],
    complete,
    collector,
  });
}

type ScanKey = Pick<AdLibraryScanEnd, 'scan_id' | 'brand_domain' | 'scanned_at'>;

function* chunksOf(
  key: ScanKey,
  ads: Iterable<ObservedAd>,
  coverage: ScanCoverage,
): Generator<AdLibraryScanChunk | AdLibraryScanEnd> {
  let chunk = 0;
  let part: ObservedAd[] = [];
  for (const ad of ads) {
    part.push(ad);
    if (part.length < CHUNK_ADS) continue;
    yield { type: 'ad_library.scan', ...key, chunk, ads: part };
    chunk += 1;
    part = [];
  }
  if (part.length > 0) {
    yield { type: 'ad_library.scan', ...key, chunk, ads: part };
    chunk += 1;
  }
  yield { type: 'ad_library.scan_end', ...key, chunks: chunk, coverage };
}

type Coverage = {
  readonly pages: readonly DemoPage[];
  readonly complete: boolean;
  readonly cut: number;
  readonly blank: boolean;
};

/** Some scans end early, cover only half of the pages or leave fields blank. */
const coverageOf = (world: World, brand: DemoBrand, day: number): Coverage => {
  const linked = linkedPages(world, brand, day);
  const random = new Random(world.seed, FOR.scan, brand.index, day);
  const kind = day === brand.offset ? 1 : random.next();
  const incomplete = kind < INCOMPLETE_SHARE;
  const partial = !incomplete && kind < INCOMPLETE_SHARE + PARTIAL_SHARE && linked.length > 1;
  return {
    pages: partial ? linked.slice(0, Math.ceil(linked.length / 2)) : linked,
    complete: !incomplete,
    cut: incomplete ? 0.4 + 0.4 * random.next() : 1,
    blank: kind > 1 - BLANK_SHARE && kind < 1,
  };
};

const linkedPages = (world: World, brand: DemoBrand, day: number): readonly DemoPage[] =>
  brand.pages
    .map((index) => world.pageList[index] as DemoPage)
    .filter(
      ({ linkedFrom, linkedUntil }) => day >= linkedFrom && (linkedUntil === null || day < linkedUntil),
    );

const collectorOn = (brand: DemoBrand, day: number): Collector => {
  if (brand.collector === 'api') return 'demo-api/1';
  return brand.collectorSwitch !== null && day >= brand.collectorSwitch ? 'demo-web/2' : 'demo-web/1';
};

function* shownAds(
  world: World,
  pages: readonly DemoPage[],
  day: number,
  cut: number,
): Generator<{ page: DemoPage; life: Life }> {
  const waves = Math.floor(day / world.days);
  for (const page of pages) {
    const readTo = Math.ceil(page.ads * cut);
    for (let wave = 0; wave <= waves; wave += 1) {
      for (let nth = 0; nth < readTo; nth += 1) {
        const life = lifeOf(world, page, nth, wave);
        if (life !== null && shownOn(life, day) !== null) yield { page, life };
      }
    }
  }
}

type ScanView = {
  readonly day: number;
  readonly dayMs: number;
  readonly collector: Collector;
  readonly blank: boolean;
};

type Dates = { readonly running: boolean; readonly started: string; readonly stopped: string };

const observe = (
  world: World,
  page: DemoPage,
  life: Life,
  { day, dayMs, collector, blank }: ScanView,
  dates?: Dates,
): ObservedAd => {
  const dateOf = (of: number): string => utcDateOfMs(dayMs + (of - day) * DAY_MS);
  const { running, started, stopped } = dates ?? {
    running: shownOn(life, day) === 'running',
    started: dateOf(life.started),
    stopped: dateOf(life.stopped),
  };
  const content = contentOn(world, page, life, day, collector);
  const ad: ObservedAd = {
    ad_id: adIdOf(world.seed, life.ad),
    page_id: page.id,
    page_name: page.name,
    // The API reports a stop date and no active flag.
    is_active: collector === 'demo-api/1' ? null : running,
    started_on: started,
    stopped_on: running ? null : stopped,
    ...content,
    media: datedMedia(content.media, dayMs),
    ...partnerOf(world, page, life, collector),
  };
  if (!blank || !new Random(world.seed, FOR.blank, life.ad, day).chance(0.5)) return ad;
  return { ...ad, started_on: null, link_url: null, cta_type: null, cta_text: null, media: [] };
};

const CREATOR_NAMES_BRAND_SHARE = 0.5;
const BRAND_NAMES_CREATOR_SHARE = 0.15;
/** Share of creators with a claimed contract, which the API never serves. */
const CONTRACT_CLAIMED_SHARE = 0.12;

/** The brand in a creator's ad, or a creator in a brand's ad. */
const partnerOf = (
  world: World,
  page: DemoPage,
  life: Life,
  collector: Collector,
): Pick<ObservedAd, 'branded_content'> => {
  if (collector === 'demo-api/1') return {};
  const random = new Random(world.seed, FOR.partner, life.ad);
  const pages = world.brandList[life.brand]?.pages.map((index) => world.pageList[index]) ?? [];
  const [official] = pages;
  const creators = pages.filter((other) => other?.role === 'CREATOR');
  const partner = (): DemoPage | undefined => {
    if (page.role === 'CREATOR') return random.chance(CREATOR_NAMES_BRAND_SHARE) ? official : undefined;
    if (page.role !== 'OFFICIAL' || creators.length === 0) return undefined;
    return random.chance(BRAND_NAMES_CREATOR_SHARE) ? random.pick(creators) : undefined;
  };
  const named = partner();
  if (named === undefined) return {};
  const branded_content: BrandedContent = { page_id: named.id, page_name: named.name };
  return { branded_content };
};

const claimOf = (world: World, page: DemoPage): PageClaim => {
  const random = new Random(world.seed, FOR.partner, page.index, 1);
  return page.role === 'CREATOR' && random.chance(CONTRACT_CLAIMED_SHARE) ? 'AMBASSADOR' : page.role;
};

/**
 * Ads of the corpus on that day and of the pulse. Depends on its arguments only, so a repeated scan has the same ids
 * and content. `firstDayMs` is midnight (UTC).
 */
export function* liveScanOf(
  world: World,
  pulse: Pulse,
  brand: DemoBrand,
  firstDayMs: number,
  timeMs: number,
): Generator<AdLibraryScanChunk | AdLibraryScanEnd> {
  const day = Math.floor((timeMs - firstDayMs) / DAY_MS);
  const dayMs = firstDayMs + day * DAY_MS;
  const pages = linkedPages(world, brand, day);
  const collector = collectorOn(brand, day);
  const view = { day, dayMs, collector, blank: false };
  const scanned_at = new Date(timeMs).toISOString();
  const key = {
    // Named after the pulse too, because a scan of the same time has other ads with another pulse.
    scan_id: scanIdOf(
      brand.domain,
      `${timeMs - pulse.fromMs} ms`,
      `demo live ${world.seed} ${pulse.everyMs}`,
    ),
    brand_domain: brand.domain,
    scanned_at,
  };
  const ads = function* (): Generator<ObservedAd> {
    for (const { page, life } of shownAds(world, pages, day, 1)) {
      yield observe(world, page, life, view);
    }
    // The first page of a brand is its official one, which stays linked.
    const [official] = pages;
    if (official === undefined) return;
    for (const ad of pulseAdsAt(pulse, timeMs)) {
      if (ad.brand !== brand.index) continue;
      const dates = {
        running: timeMs < ad.endsMs,
        started: utcDateOfMs(ad.startsMs),
        stopped: utcDateOfMs(ad.endsMs),
      };
      yield observe(world, official, pulseLife(ad, firstDayMs, timeMs), view, dates);
    }
  };
  yield* chunksOf(key, ads(), {
    pages: pages.map(({ id, name }) => ({ page_id: id, page_name: name })),
    countries: ['US'],
    complete: true,
    collector,
  });
}

const pulseLife = (ad: PulseAd, firstDayMs: number, timeMs: number): Life => {
  const dayOf = (ms: number): number => Math.floor((ms - firstDayMs) / DAY_MS);
  return {
    ad: ad.ad,
    brand: ad.brand,
    started: dayOf(ad.startsMs),
    visibleFrom: dayOf(ad.startsMs),
    stopped: dayOf(ad.endsMs),
    flagged: true,
    returns: null,
    linkChanges: ad.linkChangesMs !== null && timeMs >= ad.linkChangesMs ? dayOf(timeMs) : null,
    copyChanges: null,
  };
};
