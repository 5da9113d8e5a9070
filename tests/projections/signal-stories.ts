import { adLibraryStream, type AdContent, type AdLibraryFact } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { socialPageStream } from '#contracts/events/corpus/social-page.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import type { PageRole } from '#contracts/observations/social-page-link.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { registered } from '#tests/api/corpus.ts';
import type { GivenFact } from '#tests/dsl/projections.ts';

/** Lives of brands, told day by day, as facts that the domain would record. Day 0 is the first of January. */

const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

export const dateOf = (day: number): string => new Date(FIRST_DAY + day * DAY_MS).toISOString().slice(0, 10);
export const dayOf = (date: string): number => (Date.parse(date) - FIRST_DAY) / DAY_MS;

/** The day on which it is this late. */
export const storyDayOf = (time: Date): number => Math.floor((time.getTime() - FIRST_DAY) / DAY_MS);

/** Ads that a scan shows for the first time. */
export type Launch = {
  readonly count?: number;
  readonly novelty?: 'baseline' | 'news' | 'late';
  readonly format?: AdFormat;
  readonly body?: string;
  readonly link?: string;
  /** Where its cards lead. */
  readonly cards?: readonly string[];
  readonly page?: string;
  /** Day on which they began; that of the scan when it is absent. */
  readonly since?: number;
  /** Ended already when they were first seen. */
  readonly ended?: boolean;
};

export type Scan = {
  readonly hour?: number;
  readonly reliable?: boolean;
  readonly late?: boolean;
  readonly baseline?: boolean;
  readonly launches?: readonly Launch[];
  /** So many of the running ads end, those that began first. */
  readonly stops?: number;
  /** Facts in between. */
  readonly more?: (sighting: Sighting) => readonly AdLibraryFact[];
};

export type Sighting = {
  readonly brand_id: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

export const EXCERPT = { page_id: null, page_name: null, title: 'A title', body: 'Words of an ad' };

export const cardsTo = (links: readonly string[]): AdContent['cards'] =>
  links.map((link_url) => ({ body: null, title: null, link_description: null, cta_text: null, link_url }));

const contentOf = ({ format = 'image', body = 'Words of an ad', link, cards }: Launch): AdContent => ({
  body,
  title: 'A title',
  link_description: null,
  caption: null,
  cta_type: null,
  cta_text: null,
  link_url: link ?? null,
  format,
  platforms: null,
  languages: null,
  media: [],
  cards: cardsTo(cards ?? []),
  versions: [],
});

type StoryAd = { readonly id: string; readonly format: AdFormat; readonly since: number };

export const story = (domain: string, number: number) => {
  const brand_id = brandIdOf(domain);
  const facts: GivenFact[] = [
    { stream: brandStream(brand_id), fact: registered(domain, `${dateOf(0)}T00:00:00.000Z`) },
  ];
  let running: StoryAd[] = [];
  let ads = 0;
  const timeOf = (day: number, hour: number): string =>
    new Date(FIRST_DAY + day * DAY_MS + hour * 3_600_000).toISOString();
  const counted = ({ id, format, since }: StoryAd) => ({
    ad_id: id,
    format,
    countries: ['US'],
    started_on: dateOf(since),
  });

  const launch = (sighting: Sighting, day: number, launched: Launch): readonly AdLibraryFact[] =>
    Array.from({ length: launched.count ?? 1 }, () => {
      ads += 1;
      const { novelty = 'news', format = 'image', since = day, page = null, ended = false } = launched;
      const ad = { id: `9${String(number).padStart(4, '0')}${String(ads).padStart(5, '0')}`, format, since };
      const about = { ...sighting, ...counted(ad) };
      const begun: AdLibraryFact = {
        type: 'AdStarted',
        data: {
          ...about,
          page_id: page,
          page_name: page && `Page ${page}`,
          novelty,
          missing_since: null,
          collector: 'tests',
          content: contentOf(launched),
        },
      };
      if (!ended) {
        running.push(ad);
        return [begun];
      }
      return [begun, stop(sighting, ad, novelty === 'news')];
    }).flat();
  const stop = (sighting: Sighting, ad: StoryAd, news = true): AdLibraryFact => ({
    type: 'AdConfirmedInactive',
    data: {
      ...sighting,
      ...counted(ad),
      excerpt: EXCERPT,
      basis: 'library',
      stopped_on: null,
      last_seen_at: sighting.observed_at,
      news,
    },
  });

  const told = {
    brand_id,
    facts,
    scan: (day: number, scan: Scan = {}) => {
      const observed_at = timeOf(day, scan.hour ?? 6);
      const sighting = { brand_id, scan_id: derivedId('scan', `${brand_id} ${observed_at}`), observed_at };
      const stopping = running.slice(0, scan.stops ?? 0);
      running = running.slice(stopping.length);
      const recorded = [
        ...(scan.launches ?? []).flatMap((launched) => launch(sighting, day, launched)),
        ...(scan.more?.(sighting) ?? []),
        ...stopping.map((ad) => stop(sighting, ad)),
      ];
      const began = (novelty: string): number =>
        recorded.filter((fact) => fact.type === 'AdStarted' && fact.data.novelty === novelty).length;
      const counts = { returned: 0, revised: 0, destination_changed: 0, reworded: 0, missing: 0 };
      recorded.push({
        type: 'ScanRecorded',
        data: {
          ...sighting,
          scanned_for: brand_id,
          collector: 'tests',
          complete: scan.reliable ?? true,
          countries: ['US'],
          pages: [{ page_id: '100000001', page_name: null, baseline: scan.baseline ?? false }],
          reliable: scan.reliable ?? true,
          late_arrival: scan.late ?? false,
          totals: {
            ...counts,
            seen: running.length,
            active: running.length,
            total: ads,
            baseline: began('baseline'),
            news: began('news'),
            late: began('late'),
            stopped: stopping.length,
          },
        },
      });
      facts.push(...recorded.map((fact) => ({ stream: adLibraryStream(brand_id), fact })));
      return told;
    },
    /** `null`: it no longer belongs with the brand. */
    link: (day: number, page_id: string, role: PageRole | null, hour = 1) => {
      const about = { page_id, brand_id, observed_at: timeOf(day, hour) };
      const page_name = `Page ${page_id}`;
      facts.push({
        stream: socialPageStream(page_id),
        fact: role
          ? { type: 'PageLinked', data: { ...about, page_name, role, confidence: 0.9 } }
          : { type: 'PageUnlinked', data: about },
      });
      return told;
    },
    shop: (day: number, products: number, cheaper: number, scan: object = {}) => {
      const observed_at = timeOf(day, 4);
      const moves = { cheaper, dearer: 0, mixed: 0, changed: cheaper };
      const data = {
        brand_id,
        domain,
        scan_id: derivedId('shop', `${brand_id} ${observed_at}`),
        observed_at,
        collector: 'tests',
        complete: true,
        claimed_complete: true,
        pages: 1,
        currency: 'USD',
        baseline: false,
        late_arrival: false,
        totals: {
          ...moves,
          seen: products,
          products,
          missing: 0,
          baseline: 0,
          listed: 0,
          returned: 0,
          delisted: 0,
        },
        ...scan,
      };
      facts.push({ stream: storefrontStream(domain), fact: { type: 'StorefrontScanRecorded', data } });
      return told;
    },
    /** The running ad that began so many places after the first. */
    ad: (place: number) => {
      const ad = running[place];
      if (!ad) throw new Error(`no ad runs at ${place}`);
      return counted(ad);
    },
  };
  return told;
};
export type Story = ReturnType<typeof story>;
