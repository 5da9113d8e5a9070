import { isEqual } from 'es-toolkit/predicate/isEqual';
import { union } from 'es-toolkit/array/union';
import type { AdLook, AdObservationCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type {
  AdContent,
  AdsNow,
  BlankField,
  ScanTotals,
} from '#contracts/events/corpus/ad-library-values.ts';
import type {
  AdDetailsObserved,
  AdLibraryEvent,
  AdsReworded,
  ScanRecorded,
} from '#contracts/events/corpus/ad-library.ts';
import type { BrandedContent, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { cardsToState } from './ad-cards.ts';
import { changesOf, compareContent, contentOf, pick, withExistingCards } from './ad-content.ts';
import { type CollectorSwitch, aspectsOf, isCollectorDifference } from './collector-differences.ts';
import {
  type ScanHeader,
  type SeenAd,
  countedOf,
  endedInLibrary,
  excerptOf,
  saidCountries,
  sightingOf,
  slicesOf,
} from './scan.ts';
import {
  type AdState,
  type LibraryState,
  NO_COUNTS,
  NO_PAGE,
  type ScannedPage,
  emptyLibrary,
  formatOf,
  isNotShownSince,
  lastSeenAt,
  pairCountries,
  recordOf,
  standingOf,
} from './state.ts';
import { blankFields, blankSince, cardsSince, stopDateSince, withLook } from './timeline.ts';
import { stopSince } from './absences.ts';
import { type LookHistory, absenceOf, lastLookBefore, noveltyOf } from './looks.ts';
import { evolve } from './evolve.ts';
import type { Decider } from '../../decider.ts';
import { boundedGroups, withFittingNames } from '../../event-size-limit.ts';

export type RewordedAd = AdsReworded['data']['ads'][number];

/** `reworded` is `null` when the wording is unchanged. */
export type SightingComparison = {
  readonly events: readonly AdLibraryEvent[];
  readonly reworded: RewordedAd | null;
};

type Field = keyof AdContent;

/** By normalised texts or repeated differences (rule 6). */
const isFromCollector = (
  switched: CollectorSwitch,
  existing: AdState,
  seen: AdContent,
  field: Field,
): boolean => {
  const differences = switched.differencesOf(existing, field);
  return (
    differences !== null && isCollectorDifference(field, existing.content[field], seen[field], differences)
  );
};

/** `null` when not new. Without a page id, the same page name or an existing page id counts as the same partner. */
const newPartner = (existing: AdState, ad: ObservedAd): BrandedContent | null => {
  const seen = ad.branded_content ?? null;
  const before = existing.branded_content;
  if (seen === null || before === undefined) return seen;
  if (seen.page_id !== null) return seen.page_id === before.page_id ? null : seen;
  return before.page_id !== null || seen.page_name === before.page_name ? null : seen;
};

/** Completes blank fields, countries, start date, page and partner. Never news. */
const completeDetails = (
  scan: ScanHeader,
  existing: AdState,
  ad: ObservedAd,
  seen: AdContent,
  completed: readonly Field[],
): readonly AdDetailsObserved[] => {
  const added = saidCountries(scan, ad).filter((country) => !existing.countries.includes(country));
  const countries = [...existing.countries, ...added];
  const pairs = union([...pairCountries(existing)], [...scan.countries]);
  const requested = isEqual(pairs, countries) ? {} : { requested_countries: pairs };
  const partner = newPartner(existing, ad);
  const completes =
    partner !== null ||
    completed.length > 0 ||
    added.length > 0 ||
    pairs.length > pairCountries(existing).length ||
    (ad.started_on !== null && ad.started_on !== existing.started_on) ||
    (existing.page_id === null && ad.page_id !== null);
  if (!completes) return [];
  return [
    {
      type: 'AdDetailsObserved',
      data: {
        ...sightingOf(scan),
        ...countedOf(existing),
        started_on: ad.started_on ?? existing.started_on,
        countries,
        ...requested,
        details: pick(seen, completed),
        page_id: existing.page_id ?? ad.page_id,
        page_name: existing.page_name ?? ad.page_name,
        was_format: formatOf(existing.content),
        added_countries: added,
        ...(partner === null ? {} : { branded_content: partner }),
      },
    },
  ];
};

/** Applies rules 4 to 6. */
export const compareSighting = (
  scan: ScanHeader,
  ad: ObservedAd,
  existing: AdState,
  switched: CollectorSwitch,
): SightingComparison => {
  const seen = withExistingCards(existing.content, ad);
  const { different, completed } = compareContent(existing.content, seen);
  const about = {
    ...sightingOf(scan),
    ...countedOf(existing),
    excerpt: excerptOf(existing.page_id ?? ad.page_id, existing.page_name ?? ad.page_name, existing.content),
  };
  const events: AdLibraryEvent[] = [];
  const revised: Field[] = [];
  const rewordedFields: Field[] = [];
  for (const [aspect, fields] of different) {
    for (const field of fields) {
      const isOwn = aspect === 'destination' || !isFromCollector(switched, existing, seen, field);
      (isOwn ? revised : rewordedFields).push(field);
    }
  }
  const { link_url: from_url } = existing.content;
  const { link_url: to_url } = seen;
  if (revised.includes('link_url') && from_url !== null && to_url !== null) {
    events.push({ type: 'AdDestinationChanged', data: { ...about, from_url, to_url } });
  }
  // Cards are content, so a changed card link is a revision of the ad.
  const rewritten = [...new Set(revised)].filter((field) => field !== 'link_url');
  if (rewritten.length > 0) {
    events.push({
      type: 'AdRevised',
      data: { ...about, changes: changesOf(existing.content, seen, rewritten) },
    });
  }
  events.push(...completeDetails(scan, existing, ad, seen, completed));
  const wording = pick(
    seen,
    rewordedFields.filter((field) => !revised.includes(field)),
  );
  const was_format = formatOf(existing.content);
  const reworded =
    Object.keys(wording).length === 0
      ? null
      : {
          ad_id: ad.ad_id,
          wording,
          was_format,
          format: wording.format ?? was_format,
          countries: existing.countries,
        };
  return { events, reworded };
};

/** A correction of an ended ad, never news; `null` when it shows the same. `blank`: fields that the scan left blank. */
export const updateInactiveAd = (
  scan: ScanHeader,
  existing: AdState,
  ad: ObservedAd,
  blank: readonly BlankField[],
): AdObservationCorrected | null => {
  const seen = withExistingCards(existing.content, ad);
  const { different, completed } = compareContent(existing.content, seen);
  const shown = pick(seen, [...new Set([...[...different.values()].flat(), ...completed])]);
  const [details] = completeDetails(scan, existing, ad, seen, []);
  const stopped_on = ad.stopped_on ?? existing.stopped_on;
  if (Object.keys(shown).length === 0 && !details && stopped_on === existing.stopped_on) return null;
  const { started_on, page_id, page_name, countries, added_countries, requested_countries, branded_content } =
    details?.data ?? { ...existing, added_countries: [] };
  const cards = cardsToState(shown.cards ?? cardsSince(existing.looks), ad.cards);
  const optional = {
    ...((requested_countries ?? existing.requested_countries)
      ? { requested_countries: requested_countries ?? countries }
      : {}),
    ...(branded_content ? { branded_content } : {}),
  };
  const look = {
    scan_id: scan.scan_id,
    observed_at: scan.scanned_at,
    kind: 'ended' as const,
    shown: {
      ...shown,
      ...(cards ? { cards } : {}),
      ...(started_on === existing.started_on ? {} : { started_on }),
      ...(page_id === existing.page_id ? {} : { page_id, page_name }),
      countries: added_countries,
      ...(branded_content ? { branded_content } : {}),
      ...(ad.stopped_on === null ? {} : { stopped_on: ad.stopped_on }),
    },
    blank,
  };
  const after = {
    ...existing,
    ...optional,
    started_on,
    stopped_on,
    page_id,
    page_name,
    countries,
    content: { ...existing.content, ...shown },
    looks: withLook(existing.looks, look),
  };
  return {
    type: 'AdObservationCorrected',
    data: {
      ...sightingOf(scan),
      ad_id: existing.ad_id,
      before: standingOf(existing),
      after: recordOf(after),
      withdrawn: [],
      added: [],
    },
  };
};

/**
 * Ads of one brand, by eleven rules: 1 to 3, 9 and 11 here, absence (1) in `absences.ts`, 4 and 5 in `ad-content.ts`
 * and `ad-cards.ts`, 6 in `compare-sighting.ts`, 7 and 8 in the readers and staging, 10 in
 * `services/ingest/attribution`. A part of a scan that is decided again records nothing.
 */

/** `initial` returns a new state at each access, because `evolve` changes the state in place. */
export const adLibrary: Decider<LibraryState, AdLibraryEvent> = {
  get initial(): LibraryState {
    return emptyLibrary();
  },
  evolve,
};

/** Maximum ads in one `AdsReworded` event. */
const REWORDED_ADS_PER_EVENT = 100;
/** In any script they then fit into one append. */
const REWORDED_CHARACTERS_PER_EVENT = 200_000;

/** Stops an ad that the library shows as ended. For history, looks after the scan tell whether it is missing. */
const startAd = (scan: ScanHeader, ad: ObservedAd, history: LookHistory): AdLibraryEvent[] => {
  const novelty = scan.isHistory
    ? 'late'
    : noveltyOf(ad, lastLookBefore(scan, ad.page_id ?? NO_PAGE, history));
  const content = contentOf(ad);
  const countries = saidCountries(scan, ad);
  const counted = { ad_id: ad.ad_id, format: formatOf(content), countries, started_on: ad.started_on };
  const about = { ...sightingOf(scan), ...counted };
  const { page_id, page_name } = ad;
  const excerpt = excerptOf(page_id, page_name, content);
  const looks = history.pages.get(page_id ?? NO_PAGE)?.looks ?? [];
  const isEnded = endedInLibrary(ad, scan.scanned_at);
  const absence =
    scan.isHistory && page_id !== null && !isEnded ? absenceOf(scan.countries, scan.scanned_at, looks) : null;
  const { collector } = scan;
  const optional = {
    ...(isEqual(countries, scan.countries) ? {} : { requested_countries: scan.countries }),
    ...(ad.branded_content ? { branded_content: ad.branded_content } : {}),
    ...(scan.countedSince && !isEnded && !absence?.confirmed_at ? { counted_since: scan.countedSince } : {}),
  };
  const missing_since = absence?.confirmed_at === null ? absence.missing_since : null;
  const events: AdLibraryEvent[] = [
    {
      type: 'AdStarted',
      data: { ...about, page_id, page_name, novelty, missing_since, collector, content, ...optional },
    },
  ];
  if (absence?.confirmed_at) {
    events.push(...stopSince(scan, absence.confirmed_at, looks, { ...counted, excerpt }));
  }
  if (isEnded) {
    events.push({
      type: 'AdConfirmedInactive',
      data: {
        ...about,
        excerpt,
        basis: 'library',
        stopped_on: ad.stopped_on,
        last_seen_at: scan.scanned_at,
        observed_running: false,
        news: novelty === 'news',
      },
    });
  }
  return events;
};

const afterEvents = (ad: AdState, events: readonly AdLibraryEvent[]): AdState => {
  if (events.length === 0) return ad;
  const state = emptyLibrary();
  state.ads.set(ad.ad_id, ad);
  for (const event of events) evolve(state, event);
  return state.ads.get(ad.ad_id) ?? ad;
};

/** Rule 1. `changed`: the ad after this scan's changes, since counts by country and format subtract what they added. */
const stopAd = (
  scan: ScanHeader,
  ad: ObservedAd,
  existing: AdState,
  changed: AdState,
  page: ScannedPage | undefined,
): AdLibraryEvent => ({
  type: 'AdConfirmedInactive',
  data: {
    ...sightingOf(scan),
    ...countedOf(changed),
    excerpt: excerptOf(changed.page_id, changed.page_name, changed.content),
    basis: 'library',
    stopped_on: ad.stopped_on,
    last_seen_at: lastSeenAt(existing, page),
    observed_running: existing.observed_running,
    news: existing.observed_running,
  },
});

/** Also when the look follows from the one before, because the page is covered in full. */
const isRecordedLook = (
  { scan_id }: ScanHeader,
  { looks, page_id }: AdState,
  kind: AdLook['kind'],
  covered: ReadonlySet<string>,
): boolean => {
  const last = looks.at(-1);
  return last?.scan_id === scan_id || (last?.kind === kind && page_id !== null && covered.has(page_id));
};

/** A stopped ad runs again (rule 2). */
const returnAd = (scan: ScanHeader, existing: AdState): AdLibraryEvent => ({
  type: 'AdReturned',
  data: {
    ...sightingOf(scan),
    ...countedOf(existing),
    excerpt: excerptOf(existing.page_id, existing.page_name, existing.content),
    inactive_since: existing.inactive_since ?? existing.seen_at,
  },
});

/** The end of a complete scan implies sightings of active ads on fully covered pages, which need no `AdsSeen`. */
const needsSeenEvent = (
  scan: ScanHeader,
  existing: AdState,
  page: ScannedPage | undefined,
  covered: ReadonlySet<string>,
): boolean => {
  if (existing.status === 'missing' || isNotShownSince(existing)) return true;
  if (existing.page_id !== null && covered.has(existing.page_id)) return false;
  // Another scan of the same time may have seen it. This one's look counts too, since one in between may come late.
  return lastSeenAt(existing, page) < scan.scanned_at || existing.looks.at(-1)?.scan_id !== scan.scan_id;
};

/** The collector words these ads differently (rule 6). */
const rewordAds = (
  scan: ScanHeader,
  { differences }: CollectorSwitch,
  ads: readonly RewordedAd[],
): AdsReworded => ({
  type: 'AdsReworded',
  data: { ...sightingOf(scan), collector: scan.collector, aspects: aspectsOf(differences), differences, ads },
});

/**
 * `switched`: collectors of the ads until now (rule 6). `history`: complete scans of new ads' pages. Expects scans in
 * order of observation, except history.
 */
export const recordSightings =
  (scan: ScanHeader, ads: readonly ObservedAd[], switched: CollectorSwitch, history: LookHistory) =>
  (state: LibraryState): AdLibraryEvent[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const covered = scan.complete ? scan.pageIds.difference(scan.partialPages) : new Set<string>();
    const events: AdLibraryEvent[] = [];
    const seen: SeenAd[] = [];
    const ended: SeenAd[] = [];
    const rewordings: RewordedAd[] = [];
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing) {
        events.push(...startAd(scan, ad, history));
        continue;
      }
      if (scan.isHistory) {
        // An interruption may have left the start of the ad without its stop.
        const isStarted = existing.status === 'active' && existing.looks[0]?.scan_id === scan.scan_id;
        if (isStarted) events.push(...startAd(scan, ad, history).slice(1));
        continue;
      }
      const page = state.pages.get(existing.page_id ?? NO_PAGE);
      const blank = blankFields({ ...existing, ...existing.content }, ad);
      const isBlankChanged = !isEqual(blank, blankSince(existing.looks));
      const leftBlank = (cardsBefore: AdContent['cards']): SeenAd => ({
        ad_id: ad.ad_id,
        blank: isBlankChanged ? blank : null,
        cards: cardsToState(cardsBefore, ad.cards),
      });
      if (endedInLibrary(ad, scan.scanned_at)) {
        if (existing.status !== 'inactive') {
          const { events: own, reworded } = compareSighting(scan, ad, existing, switched);
          // The wording comes before the stop, which counts the ad by its format.
          const changes = reworded ? [...own, rewordAds(scan, switched, [reworded])] : own;
          const changed = afterEvents(existing, changes);
          events.push(...changes, stopAd(scan, ad, existing, changed, page));
          const stated = leftBlank(cardsSince(changed.looks));
          if (isBlankChanged || stated.cards) ended.push(stated);
          continue;
        }
        const update = updateInactiveAd(scan, existing, ad, blank);
        const stated = leftBlank(cardsSince(existing.looks));
        const isStopRepeated = ad.stopped_on === stopDateSince(existing.looks);
        const isRecorded = isStopRepeated && isRecordedLook(scan, existing, 'ended', covered);
        if (update) events.push(update);
        else if (isBlankChanged || stated.cards || !isRecorded) {
          ended.push({ ...stated, ...(isStopRepeated ? {} : { stopped_on: ad.stopped_on }) });
        }
        continue;
      }
      const isReturned = existing.status === 'inactive';
      if (isReturned) events.push(returnAd(scan, existing));
      const compared = compareSighting(scan, ad, existing, switched);
      const { looks } = afterEvents(existing, compared.events);
      const stated = leftBlank(compared.reworded?.wording.cards ?? cardsSince(looks));
      if (isBlankChanged || stated.cards || (!isReturned && needsSeenEvent(scan, existing, page, covered))) {
        seen.push(stated);
      }
      events.push(...compared.events);
      if (compared.reworded) rewordings.push(compared.reworded);
    }
    const sighting = sightingOf(scan);
    for (const slice of boundedGroups(rewordings, REWORDED_CHARACTERS_PER_EVENT, REWORDED_ADS_PER_EVENT)) {
      events.push(rewordAds(scan, switched, slice));
    }
    for (const slice of slicesOf(seen)) events.push({ type: 'AdsSeen', data: { ...sighting, ...slice } });
    for (const slice of slicesOf(ended)) {
      events.push({ type: 'AdsStillInactive', data: { ...sighting, kind: 'ended', ...slice } });
    }
    return events;
  };

export type ScanEnd = {
  readonly seen: number;
  /** The complete scans of its day cover every page linked to the brand (rule 9). */
  readonly reliable: boolean;
  /** Older than another recorded scan of the brand. */
  readonly late: boolean;
  /** Differences that repeat on most ads (rule 6). Absent: none. */
  readonly differences?: readonly string[];
  /** The late observation that made the scan a look at the brand. Absent: the scan itself. */
  readonly recordedBy?: string;
};

/** A scan that is already recorded adds no events. */
export const recordScan =
  (scan: ScanHeader, end: ScanEnd, history: LookHistory) =>
  (state: LibraryState): ScanRecorded[] => {
    if (state.recordedScans.has(scan.scan_id)) return [];
    const counts = state.open?.scan_id === scan.scan_id ? state.open.counts : NO_COUNTS;
    return [
      closeScan(scan, end, history, {
        seen: end.seen,
        active: state.live,
        missing: state.missing,
        total: state.total,
        ...counts,
      }),
    ];
  };

/** `adsNow`: for a late scan. */
export const closeScan = (
  scan: ScanHeader,
  { reliable, late, differences = [], recordedBy }: ScanEnd,
  history: LookHistory,
  totals: ScanTotals,
  adsNow: AdsNow | null = null,
): ScanRecorded => ({
  type: 'ScanRecorded',
  data: {
    ...sightingOf(scan),
    scanned_for: scan.scanned_for,
    collector: scan.collector,
    complete: scan.complete,
    countries: scan.countries,
    pages: withFittingNames(
      scan.pages.map((page) => ({
        ...page,
        baseline: lastLookBefore(scan, page.page_id, history) === null,
        ...(scan.partialPages.has(page.page_id) ? { partial: true as const } : {}),
      })),
    ),
    reliable,
    late_arrival: late,
    ...(scan.isHistory ? {} : { chronological: true }),
    ...(differences.length > 0 ? { differences } : {}),
    totals,
    ...(adsNow === null ? {} : { ads_now: adsNow }),
    ...(recordedBy === undefined ? {} : { recorded_by: recordedBy }),
  },
});
