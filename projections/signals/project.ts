import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import type {
  AdCardContent,
  AdContent,
  AdLibraryEvent,
  AdStarted,
} from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { StorefrontEvent, StorefrontScanRecorded } from '#contracts/events/corpus/storefront.ts';
import { landingPageOf } from '#contracts/values/landing-pages.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { isSaleCopy, SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { addUp, countChanges, meet, sumUpDay, sumUpLinks } from './statements.ts';

type LibraryEvent = RecordedEvent<AdLibraryEvent>;

const sumUp = (brand_id: string, date: string): Change => ({
  kind: 'refresh',
  statement: 'sum_up_day',
  row: { brand_id, date },
});

type Tallied = {
  readonly minus?: AdFormat | null;
  readonly plus?: AdFormat | null;
  readonly uncovered?: number;
  readonly relabelled?: number;
};

const addToTally = ({ data, position }: LibraryEvent, tallies: Tallied, scan: Row = {}): Change => ({
  kind: 'run',
  statement: 'add_up',
  row: {
    brand_id: data.brand_id,
    position,
    minus: tallies.minus ?? null,
    plus: tallies.plus ?? null,
    uncovered: tallies.uncovered ?? 0,
    relabelled: tallies.relabelled ?? 0,
    ...scan,
  },
});

const relabel = (event: LibraryEvent, minus: AdFormat, plus: AdFormat): readonly Change[] =>
  minus === plus ? [] : [addToTally(event, { minus, plus, relabelled: 1 })];

const countItem = ({ data: { brand_id, observed_at } }: LibraryEvent, kind: SignalKind): Change => ({
  kind: 'run',
  statement: 'count_changes',
  row: { brand_id, kind, observed_at },
});

const nameAd = ({ data, position }: LibraryEvent, kind: SignalKind, ad_id: string): Change => ({
  kind: 'upsert',
  table: 'named_ad',
  key: { brand_id: data.brand_id, date: utcDate(data.observed_at), kind, ad_id },
  set: { position, observed_at: data.observed_at },
});

/**
 * The ad that showed a page or link. `started_on` is set if it can make the page news although the page was
 * never scanned before.
 */
type Meeting = {
  readonly ad_id: string;
  readonly news: boolean;
  readonly started_on?: string | null;
  readonly social_page_id: string | null;
  readonly page_name: string | null;
};

const meetChange = ({ data, position }: LibraryEvent, row: Row): Change => {
  const { brand_id, observed_at } = data;
  return { kind: 'run', statement: 'meet', row: { brand_id, position, observed_at, ...row } };
};

const meetPage = (event: LibraryEvent, meeting: Meeting): readonly Change[] =>
  meeting.social_page_id === null
    ? []
    : [meetChange(event, { kind: 'page', key: meeting.social_page_id, ...meeting })];

type Leading = {
  readonly link_url?: string | null | undefined;
  readonly cards?: readonly AdCardContent[] | undefined;
};

/**
 * Returns the landing pages that an ad leads to, by its own link and by those of its cards. Cards mostly
 * share one link.
 */
const pagesOf = ({ link_url, cards = [] }: Leading): ReadonlyMap<string, string> => {
  const links = new Set([link_url, ...cards.map((card) => card.link_url)]);
  return new Map(
    [...links].flatMap((link) => {
      const page = link ? landingPageOf(link) : null;
      return page === null ? [] : [[page.landing_page_id, page.page_url] as const];
    }),
  );
};

const meetLinks = (
  event: LibraryEvent,
  leading: Leading,
  meeting: Meeting,
  before: Leading = {},
): readonly Change[] => {
  const earlier = pagesOf(before);
  return [...pagesOf(leading)]
    .filter(([key]) => !earlier.has(key))
    .map(([key, destination_url]) =>
      meetChange(event, { kind: 'landing_page', key, destination_url, ...meeting }),
    );
};

const isLongRunner = ({ started_on }: { started_on: string | null }, observed_at: string): boolean =>
  started_on !== null &&
  Date.parse(utcDate(observed_at)) - Date.parse(started_on) >=
    SIGNAL_THRESHOLDS.long_runner_refreshed.ageDays * DAY_MS;

const COPY: readonly (keyof AdContent)[] = [
  'body',
  'title',
  'link_description',
  'caption',
  'cards',
  'versions',
];

const startAd = (event: LibraryEvent, { data }: AdStarted): readonly Change[] => {
  const { ad_id, page_id, page_name, novelty, content } = data;
  const news = novelty === 'news';
  const page = { social_page_id: page_id, page_name };
  const texts = [content.body, content.title, content.link_description];
  const worded = [...content.cards, ...content.versions].flatMap(({ body, title }) => [body, title]);
  return [
    addToTally(event, { plus: data.format, uncovered: news ? 0 : 1 }),
    ...(news ? [countItem(event, 'ads_started')] : []),
    ...(news && isSaleCopy([...texts, ...worded]) ? [nameAd(event, 'sale', ad_id)] : []),
    ...meetLinks(event, content, { ad_id, news, ...page }),
    ...meetPage(event, { ad_id, news, ...page, started_on: novelty === 'late' ? null : data.started_on }),
  ];
};

/**
 * Returns the changes of an event about a brand's ads. The signals of its day are computed at the end of the
 * batch.
 */
const projectAd = (event: LibraryEvent): readonly Change[] => {
  switch (event.type) {
    case 'AdStarted':
      return startAd(event, event);
    case 'AdRevised': {
      const { ad_id, changes, excerpt, observed_at } = event.data;
      const { page_id, page_name } = excerpt;
      const { format, cards } = changes;
      const meeting = { ad_id, social_page_id: page_id, page_name, news: true };
      const isRefreshed =
        COPY.some((field) => (changes[field]?.from ?? null) !== null) &&
        isLongRunner(event.data, observed_at);
      return [
        ...(format ? [addToTally(event, { minus: format.from ?? 'other', plus: format.to ?? 'other' })] : []),
        ...(isRefreshed ? [nameAd(event, 'long_runner_refreshed', ad_id)] : []),
        ...(cards ? meetLinks(event, { cards: cards.to }, meeting, { cards: cards.from }) : []),
      ];
    }
    case 'AdDestinationChanged': {
      const { ad_id, to_url, excerpt, observed_at } = event.data;
      const { page_id, page_name } = excerpt;
      return [
        countItem(event, 'destinations_changed'),
        ...(isLongRunner(event.data, observed_at) ? [nameAd(event, 'long_runner_refreshed', ad_id)] : []),
        ...meetLinks(event, { link_url: to_url }, { ad_id, social_page_id: page_id, page_name, news: true }),
      ];
    }
    case 'AdDetailsObserved': {
      const { ad_id, details, page_id, page_name, was_format } = event.data;
      const meeting = { ad_id, social_page_id: page_id, page_name, news: false };
      return [
        ...relabel(event, was_format, details.format ?? was_format),
        ...meetLinks(event, details, meeting),
        ...meetPage(event, meeting),
      ];
    }
    case 'AdObservationCorrected':
    case 'AdAttributed':
    case 'ScanCorrected':
      return [];
    case 'AdsReworded':
      return event.data.ads.flatMap(({ ad_id, was_format, format, wording }) => [
        ...relabel(event, was_format, format),
        ...meetLinks(event, wording, { ad_id, social_page_id: null, page_name: null, news: false }),
      ]);
    case 'AdConfirmedInactive': {
      const { format, news } = event.data;
      // An ad that is not news had already ended when it was first seen, so it leaves `uncovered` again.
      return news
        ? [addToTally(event, { minus: format }), countItem(event, 'ads_stopped')]
        : [addToTally(event, { minus: format, uncovered: -1 })];
    }
    case 'AdReturned':
      return [addToTally(event, { plus: event.data.format })];
    case 'ScanRecorded': {
      const { observed_at, late_arrival, reliable, pages, totals } = event.data;
      const baseline = pages.length > 0 && pages.every((page) => page.baseline);
      const { active: active_ads, news: new_ads } = totals;
      const scan = { observed_at, late_arrival, reliable, baseline, active_ads, new_ads };
      return [addToTally(event, {}, scan), appliedScan(event)];
    }
    case 'AdsMissed':
    case 'AdsSeen':
      return [];
  }
};

const projectPage = (event: SocialPageEvent): readonly Change[] => {
  if (event.type === 'PageProfileObserved') return [];
  const { brand_id, page_id: social_page_id, observed_at } = event.data;
  const link = event.type === 'PageLinked' ? event.data : null;
  const key = { brand_id, social_page_id, observed_at };
  const set = { date: utcDate(observed_at), role: link?.role ?? null, page_name: link?.page_name ?? null };
  return [
    { kind: 'upsert', table: 'link', key, set },
    { kind: 'refresh', statement: 'sum_up_links', row: { brand_id, social_page_id } },
  ];
};

const compareCatalogue = ({ data }: StorefrontScanRecorded): readonly Change[] => {
  const { brand_id, observed_at, complete, baseline, late_arrival, totals } = data;
  if (!complete || baseline || late_arrival) return [];
  const { products, cheaper } = totals;
  const key = { brand_id, date: utcDate(observed_at), observed_at };
  return [{ kind: 'upsert', table: 'catalogue', key, set: { products, cheaper } }, sumUp(brand_id, key.date)];
};

const projectStorefront = (event: StorefrontEvent): readonly Change[] => {
  switch (event.type) {
    case 'StorefrontScanRecorded':
      return compareCatalogue(event);
    case 'ProductsListed':
    case 'ProductsChanged':
    case 'ProductsMissed':
    case 'ProductsSeen':
    case 'ProductsDelisted':
      return [];
    default:
      event satisfies never;
      return [];
  }
};

/** Radar items grouped by brand and day, and changes in a brand's activity. */
export const signals = projection<AdLibraryEvent | BrandEvent | SocialPageEvent | StorefrontEvent>({
  name: 'signals',
  version: 5,
  prefixes: ['adLibrary-', 'brand-', 'socialPage-', 'storefront-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    add_up: addUp,
    count_changes: countChanges,
    meet,
    sum_up_day: sumUpDay,
    sum_up_links: sumUpLinks,
  },
  project: (event): readonly Change[] => {
    if (event.stream.startsWith('brand-')) return brandReference(event as RecordedEvent<BrandEvent>);
    if (event.stream.startsWith('socialPage-')) return projectPage(event as RecordedEvent<SocialPageEvent>);
    if (event.stream.startsWith('storefront-'))
      return projectStorefront(event as RecordedEvent<StorefrontEvent>);
    const changes = projectAd(event as LibraryEvent);
    const { brand_id, observed_at } = (event as LibraryEvent).data;
    return changes.length === 0 ? [] : [...changes, sumUp(brand_id, utcDate(observed_at))];
  },
});
