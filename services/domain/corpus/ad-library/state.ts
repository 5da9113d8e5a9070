import { omit } from 'es-toolkit';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type {
  AdContent,
  AdLibraryEvent,
  Aspect,
  Novelty,
  ScanTotals,
} from '#contracts/events/corpus/ad-library.ts';
import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { withChanges } from './ad-content.ts';

/** State and evolve of the ad library; see `decider.ts` for the aggregate. */

/** Page key shared by all ads whose source names no page. Scans never cover this page. */
export const NO_PAGE = '';

export type AdStatus = 'active' | 'missing' | 'inactive';

/** One ad of the brand, as recorded so far. */
export type AdState = {
  readonly ad_id: string;
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly status: AdStatus;
  readonly novelty: Novelty;
  /**
   * Time of the last sighting with an event of its own. A later complete scan may imply a sighting; see `lastSeenAt`.
   */
  readonly seen_at: string;
  readonly missing_since: string | null;
  readonly inactive_since: string | null;
  /** True when some scan showed the ad running. */
  readonly observed_running: boolean;
  readonly started_on: string | null;
  readonly countries: readonly string[];
  /** The collector that worded `content`. */
  readonly collector: string;
  readonly content: AdContent;
  /** The partner that the ad names; absent when none was seen. */
  readonly branded_content?: BrandedContent;
};

/** Scans of one page, as recorded in this brand's stream. */
export type ScannedPage = {
  readonly page_id: string;
  readonly first_scan_at: string;
  readonly last_scan_at: string;
  readonly last_complete_at: string | null;
  /**
   * The complete scan before the last one. Several scans of one time, each of other countries, all use it as the scan
   * before them.
   */
  readonly complete_before?: string | null;
  /** The last complete scan that showed every active ad. Absent in older states, where `last_complete_at` applies. */
  readonly all_seen_at?: string | null;
  /** The collector of the last complete scan; of the first scan when none after it was complete. */
  readonly collector: string;
};

type ScanCounts = Omit<ScanTotals, 'seen' | 'active' | 'missing' | 'total'>;

/**
 * The part of a brand's ads that a decision needs: counters over all ads, and the ads and pages that the current scan
 * touches. The state store of ingest loads only these.
 */
export type LibraryState = {
  readonly ads: Map<string, AdState>;
  readonly pages: Map<string, ScannedPage>;
  readonly recordedScans: Set<string>;
  live: number;
  missing: number;
  total: number;
  /** The scan that is recorded in part: its counts so far, and the aspects that its collector reworded (rule 6). */
  open: {
    readonly scan_id: string;
    readonly counts: ScanCounts;
    readonly reworded: readonly Aspect[];
  } | null;
};

export const NO_COUNTS: ScanCounts = {
  baseline: 0,
  news: 0,
  late: 0,
  stopped: 0,
  returned: 0,
  revised: 0,
  destination_changed: 0,
  reworded: 0,
};

export const emptyLibrary = (): LibraryState => ({
  ads: new Map(),
  pages: new Map(),
  recordedScans: new Set(),
  live: 0,
  missing: 0,
  total: 0,
  open: null,
});

const allSeenAt = ({ all_seen_at, last_complete_at }: ScannedPage): string | null =>
  all_seen_at === undefined ? last_complete_at : all_seen_at;

/**
 * Returns the time at which the ad was last seen. An active ad was also seen by the last complete scan of its page that
 * showed every active ad, without an event of its own.
 */
export const lastSeenAt = (ad: AdState, page: ScannedPage | undefined): string => {
  const allSeen = page && ad.status === 'active' && ad.page_id !== null ? allSeenAt(page) : null;
  return allSeen !== null && allSeen > ad.seen_at ? allSeen : ad.seen_at;
};

/**
 * Returns the collector that last saw the ad. An ad without a later event of its own was last seen by the collector of
 * its page's last complete scan.
 */
export const collectorOf = (ad: AdState, page: ScannedPage | undefined): string =>
  page && lastSeenAt(ad, page) !== ad.seen_at ? page.collector : ad.collector;

export const formatOf = (content: AdContent): AdFormat => content.format ?? 'other';

const stateOf = (ad: AdRecord): AdState => omit(ad, ['first_seen_at', 'basis', 'stopped_on', 'format']);

const later = (a: string | null, b: string): string => (a !== null && a > b ? a : b);

/**
 * Returns the state after one more event. It changes the state in place, because a scan of a large brand folds tens of
 * thousands of events. This is safe because every state was created by `emptyLibrary` for one owner.
 */
export const evolve = (state: LibraryState, event: AdLibraryEvent): LibraryState => {
  const { scan_id, observed_at } = event.data;
  const count = (name: keyof ScanCounts, by = 1): void => {
    const open = state.open?.scan_id === scan_id ? state.open : { scan_id, counts: NO_COUNTS, reworded: [] };
    state.open = { ...open, counts: { ...open.counts, [name]: open.counts[name] + by } };
  };
  const update = (adId: string, change: (ad: AdState) => Partial<AdState>): void => {
    const ad = state.ads.get(adId);
    if (!ad) return;
    const changed = change(ad);
    if (changed.status && changed.status !== ad.status) {
      if (ad.status === 'missing') state.missing -= 1;
      if (changed.status === 'missing') state.missing += 1;
      if (ad.status === 'inactive') state.live += 1;
      if (changed.status === 'inactive') state.live -= 1;
    }
    state.ads.set(adId, { ...ad, ...changed });
  };
  const replace = (adId: string, next: AdState | null): void => {
    const before = state.ads.get(adId) ?? null;
    for (const [ad, by] of [
      [before, -1],
      [next, 1],
    ] as const) {
      if (ad === null) continue;
      state.total += by;
      if (ad.status !== 'inactive') state.live += by;
      if (ad.status === 'missing') state.missing += by;
    }
    if (next === null) state.ads.delete(adId);
    else state.ads.set(adId, next);
  };

  switch (event.type) {
    case 'AdStarted': {
      const { data } = event;
      state.ads.set(data.ad_id, {
        ad_id: data.ad_id,
        page_id: data.page_id,
        page_name: data.page_name,
        status: data.missing_since === null ? 'active' : 'missing',
        novelty: data.novelty,
        seen_at: observed_at,
        missing_since: data.missing_since,
        inactive_since: null,
        observed_running: true,
        started_on: data.started_on,
        countries: data.countries,
        collector: data.collector,
        content: data.content,
        ...(data.branded_content ? { branded_content: data.branded_content } : {}),
      });
      state.total += 1;
      state.live += 1;
      if (data.missing_since !== null) state.missing += 1;
      count(data.novelty);
      return state;
    }
    case 'AdRevised':
      update(event.data.ad_id, (ad) => ({ content: withChanges(ad.content, event.data.changes) }));
      count('revised');
      return state;
    case 'AdDetailsObserved':
      update(event.data.ad_id, (ad) => ({
        content: { ...ad.content, ...event.data.details },
        started_on: event.data.started_on,
        countries: event.data.countries,
        page_id: event.data.page_id,
        page_name: event.data.page_name,
        ...(event.data.branded_content ? { branded_content: event.data.branded_content } : {}),
      }));
      return state;
    case 'AdDestinationChanged':
      update(event.data.ad_id, (ad) => ({ content: { ...ad.content, link_url: event.data.to_url } }));
      count('destination_changed');
      return state;
    case 'AdConfirmedInactive':
      update(event.data.ad_id, () => ({
        status: 'inactive',
        inactive_since: observed_at,
        missing_since: null,
        seen_at: event.data.last_seen_at,
        observed_running: event.data.news,
      }));
      if (event.data.news) count('stopped');
      return state;
    case 'AdReturned':
      update(event.data.ad_id, () => ({
        status: 'active',
        inactive_since: null,
        missing_since: null,
        seen_at: observed_at,
        observed_running: true,
      }));
      count('returned');
      return state;
    case 'AdsMissed':
      for (const adId of event.data.ad_ids) {
        update(adId, (ad) => ({
          status: 'missing',
          missing_since: observed_at,
          seen_at: lastSeenAt(ad, state.pages.get(ad.page_id ?? NO_PAGE)),
        }));
      }
      return state;
    case 'AdsSeen':
      for (const adId of event.data.ad_ids) {
        update(adId, (ad) => ({
          status: ad.status === 'inactive' ? 'inactive' : 'active',
          missing_since: null,
          seen_at: later(ad.seen_at, observed_at),
        }));
      }
      return state;
    case 'AdsReworded':
      for (const { ad_id, wording } of event.data.ads) {
        update(ad_id, (ad) => ({ content: { ...ad.content, ...wording }, collector: event.data.collector }));
      }
      count('reworded', event.data.ads.length);
      if (state.open) state.open = { ...state.open, reworded: event.data.aspects };
      return state;
    case 'AdObservationCorrected':
      replace(event.data.ad_id, stateOf(event.data.after));
      return state;
    case 'AdAttributed':
      replace(
        event.data.ad_id,
        event.data.brand_id === event.data.to_brand_id ? stateOf(event.data.ad) : null,
      );
      return state;
    case 'ScanCorrected':
      return state;
    case 'ScanRecorded': {
      for (const { page_id, partial } of event.data.pages) {
        const page = state.pages.get(page_id);
        const allSeen = page ? allSeenAt(page) : null;
        const lastComplete = page?.last_complete_at ?? null;
        const isNext = event.data.complete && (lastComplete === null || observed_at > lastComplete);
        const newest = !page || observed_at >= page.last_scan_at;
        const complete = event.data.complete && page_id !== NO_PAGE;
        state.pages.set(page_id, {
          page_id,
          first_scan_at: page && page.first_scan_at < observed_at ? page.first_scan_at : observed_at,
          last_scan_at: newest ? observed_at : page.last_scan_at,
          last_complete_at: isNext ? observed_at : lastComplete,
          complete_before: isNext ? lastComplete : (page?.complete_before ?? null),
          all_seen_at: event.data.complete && !partial ? later(allSeen, observed_at) : allSeen,
          collector:
            newest && (complete || !page) ? event.data.collector : (page?.collector ?? event.data.collector),
        });
      }
      state.recordedScans.add(scan_id);
      if (state.open?.scan_id === scan_id) state.open = null;
      return state;
    }
  }
};
