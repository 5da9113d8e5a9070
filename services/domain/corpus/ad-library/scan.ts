import { chunk } from 'es-toolkit/array/chunk';
import { partition } from 'es-toolkit/array/partition';
import type { LastLook, ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type {
  AdCardContent,
  AdContent,
  AdCounted,
  AdsNow,
  BlankField,
  ScanTotals,
} from '#contracts/events/corpus/ad-library-values.ts';
import { type AdExcerpt, excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { utcDate } from '#contracts/values/time.ts';
import { boundedGroups, BULK_IDS_MAX } from '#domain/event-size-limit.ts';
import { formatOf, type AdState } from './state.ts';

export type ScanHeader = {
  readonly scan_id: string;
  readonly brand_id: string;
  readonly scanned_for: string;
  readonly scanned_at: string;
  readonly complete: boolean;
  readonly countries: readonly string[];
  readonly collector: string;
  readonly pages: readonly { readonly page_id: string; readonly page_name: string | null }[];
  /** Ids of the pages that the coverage names. */
  readonly pageIds: ReadonlySet<string>;
  /** Live ads of these pages also ran outside the scan's countries, or another scan of the same time showed some. */
  readonly partialPages: ReadonlySet<string>;
  /** Too old to be decided again: it adds its unknown ads and its day, and changes nothing else. */
  readonly isHistory: boolean;
  /** Time of the brand's newest look, whose totals history's ads are added to. Absent: none. */
  readonly countedSince?: string;
};

export const sightingOf = (scan: ScanHeader) => ({
  brand_id: scan.brand_id,
  scan_id: scan.scan_id,
  observed_at: scan.scanned_at,
});

export const correctScan = (
  scan: ScanHeader,
  correctedBy: string,
  change: {
    readonly reliable: boolean;
    readonly noLook: boolean;
    readonly totals: ScanTotals;
    /** Absent: as recorded. */
    readonly differences?: readonly string[];
  },
  lastLook: LastLook | null,
  adsNow: AdsNow,
): ScanCorrected => ({
  type: 'ScanCorrected',
  data: {
    ...sightingOf(scan),
    corrected_by: correctedBy,
    reliable: change.reliable,
    totals: change.totals,
    ...(change.differences ? { differences: change.differences } : {}),
    ...(change.noLook ? { no_look: true, last_look: lastLook } : {}),
    ads_now: adsNow,
  },
});

export const countedOf = (ad: AdState): AdCounted => ({
  ad_id: ad.ad_id,
  format: formatOf(ad.content),
  countries: ad.countries,
  started_on: ad.started_on,
});

export const excerptOf = (pageId: string | null, pageName: string | null, content: AdContent): AdExcerpt => ({
  page_id: pageId,
  page_name: pageName,
  title: content.title,
  body: excerptOfBody(content.body),
});

/** By its flag, else by a stop date not after the scan (rules 1, 7). */
export const endedInLibrary = (ad: ObservedAd, scannedAt: string): boolean =>
  ad.is_active === false ||
  (ad.is_active === null && ad.stopped_on !== null && ad.stopped_on <= utcDate(scannedAt));

/** Its own, else the one country of the scan. A scan of several countries does not say in which it found an ad. */
export const saidCountries = (scan: ScanHeader, ad: ObservedAd): readonly string[] =>
  ad.countries ?? (scan.countries.length === 1 ? scan.countries : []);

/** Fields that the scan left blank; `null`: as in the look before. */
export type SeenAd = {
  readonly ad_id: string;
  readonly blank: readonly BlankField[] | null;
  readonly cards: readonly AdCardContent[] | null;
  /** Absent: as in the look before. */
  readonly stopped_on?: string | null;
};

/** In any script they then fit into one append. */
const CARDS_CHARACTERS_PER_EVENT = 200_000;

/** Ads of one slice left the same fields blank, and have one stop date. */
export const slicesOf = (ads: readonly SeenAd[]) =>
  [...Map.groupBy(ads, ({ blank, stopped_on }) => JSON.stringify([blank, { stopped_on }])).values()].flatMap(
    (alike) => {
      const [first] = alike;
      const stated = {
        ...(first?.blank ? { blank: first.blank } : {}),
        ...(first?.stopped_on === undefined ? {} : { stopped_on: first.stopped_on }),
      };
      const [withCards, others] = partition(alike, ({ cards }) => cards !== null);
      const ids = chunk(
        others.map(({ ad_id }) => ad_id),
        BULK_IDS_MAX,
      );
      const cards = withCards.map(({ ad_id, cards: shown }) => ({ ad_id, cards: shown ?? [] }));
      return [
        ...ids.map((ad_ids) => ({ ad_ids, ...stated })),
        ...boundedGroups(cards, CARDS_CHARACTERS_PER_EVENT, BULK_IDS_MAX).map((group) => ({
          ad_ids: group.map(({ ad_id }) => ad_id),
          ...stated,
          cards: group,
        })),
      ];
    },
  );
