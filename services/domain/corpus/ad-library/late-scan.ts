import { isEqual } from 'es-toolkit/predicate/isEqual';
import { omit } from 'es-toolkit/object/omit';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { AdLibraryEvent, ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent, ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type {
  AdLook,
  BrandSince,
  LastLook,
  Occurrence,
  ScanCorrected,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import {
  type BrandMoves,
  NONE,
  addContributions,
  combine,
  movedBetween,
  totalsAfter,
} from './contributions.ts';
import {
  type Contribution,
  type ExpandedLooks,
  type Replay,
  type ReplayScan,
  type ScanTallies,
  countriesOfLook,
  historyOf,
  insertScan,
  lookOf,
  replayAds,
} from './replay.ts';
import { type ScanHeader, correctScan, endedInLibrary, saidCountries, sightingOf } from './scan.ts';
import {
  type AdState,
  type LibraryState,
  NO_PAGE,
  adsNowOf,
  lastSeenAt,
  recordOf,
  standingOf,
} from './state.ts';
import { END_OF_TIME, compactLooks, compareScans, expandLooks, withLook } from './timeline.ts';
import {
  type SharedAd,
  type TimelineEntry,
  brandAfter,
  brandBefore,
  brandsOf,
  changesOf,
} from './attribution.ts';
import { type ScanEnd, closeScan, recordScan } from './decider.ts';
import type { LookHistory } from './looks.ts';
import { addTally, emptyTally, repeatedDifferences } from './collector-differences.ts';

/** Replays a late scan's ads without and with it (rule 11). */

export type LateScan = {
  readonly scan: ReplayScan;
  /** Recorded for the brand, or naming a page of its ads; in the order of observation. */
  readonly scans: readonly ReplayScan[];
  /** First ad of each page, in any brand, without the late scan. A brand's id stands for `NO_PAGE`. */
  readonly metAt: ReadonlyMap<string, string>;
  /** `NO_PAGE` for ads without a page. */
  readonly shownPages: Iterable<string>;
  readonly moves: readonly BrandMoves[];
  /** With the late scan, by scan id (rule 6). Absent: as in `scan` and `scans`. */
  readonly differences?: ReadonlyMap<string, readonly string[]>;
};

export const scansWith = ({ scan, scans, differences }: LateScan): readonly ReplayScan[] =>
  insertScan(scans, scan).map((one) => ({
    ...one,
    differences: differences?.get(one.scan_id) ?? one.differences,
  }));

export const metWith = ({ scan, metAt, shownPages }: LateScan): ReadonlyMap<string, string> => {
  const times = new Map(metAt);
  for (const shown of shownPages) {
    const pageId = shown === NO_PAGE ? scan.header.scanned_for : shown;
    const before = times.get(pageId);
    if (before === undefined || scan.observed_at < before) times.set(pageId, scan.observed_at);
  }
  return times;
};

/** Sums over the ads decided so far, by scan id. */
export type LateTotals = {
  readonly decided: Set<string>;
  readonly before: Map<string, Contribution>;
  readonly after: Map<string, Contribution>;
  /** Complete scans that named the page of a live ad, without the late scan and with it. */
  readonly wasConcerned: Set<string>;
  readonly concerned: Set<string>;
  /** Shown ads of several brands that belong to this one, without the late scan and with it. */
  readonly seenBefore: Map<string, number>;
  readonly seenAfter: Map<string, number>;
};

export const emptyLateTotals = (): LateTotals => ({
  decided: new Set(),
  before: new Map(),
  after: new Map(),
  wasConcerned: new Set(),
  concerned: new Set(),
  seenBefore: new Map(),
  seenAfter: new Map(),
});

/** A complete scan of the page without the ad is an absence, also one elsewhere after the late look. */
const withLateLook = (
  { scan, scans }: LateScan,
  looks: ExpandedLooks,
  pageId: string | null,
  shown: ObservedAd | undefined,
): ExpandedLooks => {
  const updated = new Map(looks);
  const first = scans.find(({ scan_id }) => looks.has(scan_id));
  const absent = ({ scan_id, observed_at }: ReplayScan): void => {
    updated.set(scan_id, { scan_id, observed_at, kind: 'absent' });
  };
  const isCovered = (one: ReplayScan): boolean => one.complete && one.pageIds.has(pageId ?? NO_PAGE);
  if (!shown) {
    if (first && compareScans(first, scan) < 0 && isCovered(scan)) absent(scan);
    return updated;
  }
  const look = lookOf(scan.header, shown, endedInLibrary(shown, scan.observed_at));
  const countries = countriesOfLook(saidCountries(scan.header, shown), looks, scan);
  updated.set(scan.scan_id, { ...look, shown: { ...look.shown, countries } });
  for (const one of scans) {
    if (compareScans(one, scan) < 0) continue;
    const known = looks.get(one.scan_id);
    if (known !== undefined && known.kind !== 'absent') break;
    if (known === undefined && isCovered(one)) absent(one);
  }
  return updated;
};

/** Ads of several brands in the course of time. */
export type SharedAds = {
  readonly ads: ReadonlyMap<string, SharedAd>;
  /** Another brand's stream has these or will start them: counted here, corrected there. */
  readonly foreign: ReadonlyMap<string, AdState | undefined>;
  /** Their moves do not follow from their scans, so they are not decided again. */
  readonly unsettled: ReadonlySet<string>;
};

export const NO_SHARED_ADS: SharedAds = { ads: new Map(), foreign: new Map(), unsettled: new Set() };

/** Without the late scan and with it. */
export const looksOfAd = (late: LateScan, ad: AdState | undefined, shown: ObservedAd | undefined) => {
  const all = insertScan(late.scans, late.scan);
  // An ad that was corrected before an interruption has the look already.
  const before = new Map(expandLooks(ad?.looks ?? [], all, ad?.moved_at));
  before.delete(late.scan.scan_id);
  return { before, after: withLateLook(late, before, ad?.page_id ?? shown?.page_id ?? null, shown) };
};

const addShared = (
  brandId: string,
  scans: readonly ReplayScan[],
  looks: ExpandedLooks,
  { contributions, concerned, ads }: Replay,
  brands: readonly TimelineEntry[],
  sums: { contributions: Map<string, Contribution>; concerned: Set<string>; seen: Map<string, number> },
): void => {
  const own = new Map<string, Contribution>();
  for (const scan of scans) {
    const { scan_id } = scan;
    const isOwn = brandAfter(brands, scan) === brandId;
    const look = looks.get(scan_id);
    const isShown = look !== undefined && look.kind !== 'absent' && ads.size > 0;
    const contribution = contributions.get(scan_id);
    if (isOwn && contribution) own.set(scan_id, contribution);
    if (isOwn && isShown) sums.seen.set(scan_id, (sums.seen.get(scan_id) ?? 0) + 1);
    if ((isOwn || brandBefore(brands, scan) === brandId) && (isShown || concerned.has(scan_id))) {
      sums.concerned.add(scan_id);
    }
  }
  addContributions(sums.contributions, own);
};

/** Adds to `totals`. An ad of several brands is replayed by itself. */
export const replayBoth = (
  late: LateScan,
  looks: {
    readonly before: ReadonlyMap<string, ExpandedLooks>;
    readonly after: ReadonlyMap<string, ExpandedLooks>;
  },
  totals: LateTotals,
  shared: SharedAds,
): { readonly old: Replay; readonly now: Replay } => {
  const { scan, scans, metAt } = late;
  const { brand_id } = scan.header;
  const all = scansWith(late);
  const met = metWith(late);
  const isPlain = ([adId]: readonly [string, ExpandedLooks]): boolean => !shared.ads.has(adId);
  const old = replayAds(scans, new Map([...looks.before].filter(isPlain)), metAt);
  const now = replayAds(all, new Map([...looks.after].filter(isPlain)), met);
  addContributions(totals.before, old.contributions);
  addContributions(totals.after, now.contributions);
  for (const scanId of old.concerned) totals.wasConcerned.add(scanId);
  for (const scanId of now.concerned) totals.concerned.add(scanId);
  const [oldAds, nowAds] = [new Map(old.ads), new Map(now.ads)];
  const [oldOccurrences, nowOccurrences] = [new Map(old.occurrences), new Map(now.occurrences)];
  for (const [adId, { before, after }] of shared.ads) {
    const [was, is] = [looks.before.get(adId) ?? new Map(), looks.after.get(adId) ?? new Map()];
    const replayed = replayAds(scans, new Map([[adId, was]]), metAt);
    addShared(brand_id, scans, was, replayed, before, {
      contributions: totals.before,
      concerned: totals.wasConcerned,
      seen: totals.seenBefore,
    });
    const again = replayAds(all, new Map([[adId, is]]), met);
    addShared(brand_id, all, is, again, after, {
      contributions: totals.after,
      concerned: totals.concerned,
      seen: totals.seenAfter,
    });
    for (const [id, ad] of replayed.ads) oldAds.set(id, ad);
    for (const [id, ad] of again.ads) nowAds.set(id, ad);
    for (const [id, occurrences] of replayed.occurrences) oldOccurrences.set(id, occurrences);
    for (const [id, occurrences] of again.occurrences) nowOccurrences.set(id, occurrences);
  }
  return {
    old: { ...old, ads: oldAds, occurrences: oldOccurrences },
    now: { ...now, ads: nowAds, occurrences: nowOccurrences },
  };
};

/** Ads of a late scan are decided again without and with it, and differences are corrected (rule 11). */

/** Before the newest scan. An older one is history only (rule 11). */
export const LATE_DAYS_MAX = 60;

const patch = <Value extends object>(recorded: Value, before: Value | undefined, after: Value): Value => {
  const removed = Object.keys(before ?? {}).filter((field) => !(field in after));
  const changed = Object.entries(after).filter(
    ([field, value]) => !isEqual(before?.[field as keyof Value], value),
  );
  return { ...omit(recorded, removed as (keyof Value)[]), ...Object.fromEntries(changed) } as Value;
};

/** Fields on which both replays agree stay as recorded: of values that compare as equal the first to arrive is kept. */
const correctAd = (recorded: AdState, before: AdState | undefined, after: AdState): AdState => ({
  ...patch(recorded, before, after),
  content: patch<AdContent>(recorded.content, before?.content, after.content),
});

/** Names the brand of the ad at that time only where it is another one. */
const withBrands = (
  occurrences: readonly Occurrence[],
  brands: readonly BrandSince[] | undefined,
  own: string,
): readonly Occurrence[] =>
  occurrences.map((one) => {
    const brand_id = brands === undefined ? null : brandAfter(brands, one);
    return brand_id === null || brand_id === own ? one : { ...one, brand_id };
  });

const differenceOf = (a: readonly Occurrence[], b: readonly Occurrence[]): readonly Occurrence[] =>
  a.filter((one) => !b.some((other) => isEqual(one, other)));

/** `shown`: ads of the late scan, by ad id. Adds to `totals`. Repeating a part after its own events records nothing. */
export const correctAds =
  (
    late: LateScan,
    adIds: readonly string[],
    shown: ReadonlyMap<string, ObservedAd>,
    totals: LateTotals,
    shared: SharedAds = NO_SHARED_ADS,
  ) =>
  (state: LibraryState): AdLibraryEvent[] => {
    const { scan, scans } = late;
    const all = insertScan(scans, scan);
    const sighting = sightingOf(scan.header);
    const before = new Map<string, ExpandedLooks>();
    const after = new Map<string, ExpandedLooks>();
    const recordedOf = (adId: string): AdState | undefined => {
      const ad = state.ads.get(adId);
      return ad && { ...ad, seen_at: lastSeenAt(ad, state.pages.get(ad.page_id ?? NO_PAGE)) };
    };
    for (const adId of adIds) {
      totals.decided.add(adId);
      const looks = looksOfAd(late, state.ads.get(adId) ?? shared.foreign.get(adId), shown.get(adId));
      if (looks.before.size > 0) before.set(adId, looks.before);
      after.set(adId, looks.after);
    }
    const { old, now } = replayBoth(late, { before, after }, totals, shared);
    const events: AdLibraryEvent[] = [];
    const seen: string[] = [];
    const own = { ...adsNowOf(state) };
    for (const adId of adIds) {
      if (shared.foreign.has(adId)) continue;
      const recorded = recordedOf(adId);
      const decided = now.ads.get(adId);
      if (!decided) continue;
      const timeline = shared.ads.get(adId);
      const reported = withBrands(old.occurrences.get(adId) ?? [], timeline?.before, scan.header.brand_id);
      const actual = withBrands(now.occurrences.get(adId) ?? [], timeline?.after, scan.header.brand_id);
      const compact = compactLooks(after.get(adId) ?? new Map<string, AdLook>(), all, recorded?.moved_at);
      const isReportSame = isEqual(reported, actual);
      const kept = isReportSame ? compact : keepLook(compact, after.get(adId)?.get(scan.scan_id));
      const corrected = {
        ...(recorded ? correctAd(recorded, old.ads.get(adId), decided) : decided),
        ...(timeline
          ? { brands: brandsOf(timeline, recorded?.brands), placings: changesOf(timeline.after) }
          : {}),
      };
      const looks = withAbsenceSince(kept, corrected, all);
      const expanded = expandLooks(looks, all, recorded?.moved_at);
      const isSame =
        recorded !== undefined && isEqual({ ...corrected, looks: [] }, { ...recorded, looks: [] });
      const isOwn = ({ scan_id }: AdLook): boolean => scan_id === scan.scan_id;
      const isReported = isReportSame || !looks.some(isOwn) || recorded?.looks.some(isOwn) === true;
      if (isSame && isReported && isEqual(expandLooks(recorded.looks, all, recorded.moved_at), expanded))
        continue;
      const isOnlySeen = isSame && isReportSame && corrected.status === 'active';
      if (isOnlySeen && isUnchangedSighting(recorded, scan, all, expanded)) {
        seen.push(adId);
        continue;
      }
      own.total += recorded ? 0 : 1;
      own.active +=
        Number(corrected.status !== 'inactive') -
        Number(recorded !== undefined && recorded.status !== 'inactive');
      events.push({
        type: 'AdObservationCorrected',
        data: {
          ...sighting,
          ad_id: adId,
          before: recorded ? standingOf(recorded) : null,
          after: recordOf({ ...corrected, looks }),
          withdrawn: differenceOf(reported, actual),
          added: differenceOf(actual, reported),
          ...(timeline ? { ads_now: { ...own } } : {}),
        },
      });
    }
    if (seen.length > 0) events.push({ type: 'AdsSeen', data: { ...sighting, ad_ids: seen } });
    return events;
  };

/** Without this look the moved ad would count as seen by that scan, because scans before a move imply no look. */
const withAbsenceSince = (
  looks: readonly AdLook[],
  { status, page_id, seen_at, moved_at }: AdState,
  scans: readonly ReplayScan[],
): readonly AdLook[] => {
  if (moved_at === undefined || status !== 'active' || page_id === null) return looks;
  const cover = scans.findLast(
    ({ recorded, complete, pageIds }) => recorded && complete && pageIds.has(page_id),
  );
  const isStored = looks.some(({ scan_id }) => scan_id === cover?.scan_id);
  if (cover === undefined || cover.observed_at <= seen_at || cover.observed_at >= moved_at || isStored)
    return looks;
  const { scan_id, observed_at } = cover;
  return [...looks, { scan_id, observed_at, kind: 'absent' as const }].toSorted(compareScans);
};

/** Kept even if it follows from the look before, so that a repeated part recognises a corrected ad. */
const keepLook = (looks: readonly AdLook[], own: AdLook | undefined): readonly AdLook[] => {
  if (own === undefined || looks.some(({ scan_id }) => scan_id === own.scan_id)) return looks;
  const { scan_id, observed_at, kind } = own;
  return [...looks, { scan_id, observed_at, kind, shown: {} }].toSorted(compareScans);
};

const isUnchangedSighting = (
  recorded: AdState,
  { scan_id, observed_at }: ReplayScan,
  scans: readonly ReplayScan[],
  expanded: ExpandedLooks,
): boolean => {
  const look: AdLook = { scan_id, observed_at, kind: 'running', shown: {} };
  return isEqual(expandLooks(withLook(recorded.looks, look), scans, recorded.moved_at), expanded);
};

export type LateEnd = {
  /** Only ads that belong to this brand all the time. */
  readonly seen: number;
  /** Scans that looked at the brand, perhaps the late scan too. */
  readonly looks: ReadonlySet<string>;
  readonly reliable: ReadonlyMap<string, boolean>;
  readonly recorded: ReadonlyMap<
    string,
    {
      readonly reliable: boolean;
      readonly noLook: boolean;
      readonly corrected_by: readonly (string | null)[];
    }
  >;
};

/** Corrects the scans around it, and records scans for other brands as looks. Records the late scan last. */
export const closeLateScan =
  (late: LateScan, end: LateEnd, { before, after, seenBefore, seenAfter }: LateTotals) =>
  (state: LibraryState): (ScanCorrected | ScanRecorded)[] => {
    const { scan } = late;
    if (state.recordedScans.has(scan.scan_id)) return [];
    const corrected: { readonly header: ScanHeader; readonly change: Parameters<typeof correctScan>[2] }[] =
      [];
    /** The recorded scans with their totals as corrected, in the order of observation. */
    const stated: LastLook[] = [];
    const records: ScanRecorded[] = [];
    const adsNow = adsNowOf(state);
    let previous = { totals: NONE, contribution: NONE, observed_at: '' };
    const all = scansWith(late);
    for (const one of all) {
      const { scan_id, observed_at, header } = one;
      const contribution = after.get(scan_id) ?? NONE;
      const reliable = end.reliable.get(scan_id);
      if (one.totals === null) {
        const moved = movedBetween(late.moves, previous.observed_at, observed_at);
        const totals = totalsAfter(previous, contribution, moved);
        if (!end.looks.has(scan_id)) continue;
        const seen = (scan_id === scan.scan_id ? end.seen : 0) + (seenAfter.get(scan_id) ?? 0);
        const close = {
          seen,
          reliable: reliable ?? false,
          late: true,
          differences: one.differences,
          ...(scan_id === scan.scan_id ? {} : { recordedBy: scan.scan_id }),
        };
        const history = historyOf(all, header.scanned_for, metWith(late));
        records.push(closeScan(header, close, history, { seen, ...totals }, adsNow));
        previous = { totals, contribution, observed_at };
        continue;
      }
      const { seen: seenOnce, ...recordedTotals } = one.totals;
      const seen = seenOnce + (seenAfter.get(scan_id) ?? 0) - (seenBefore.get(scan_id) ?? 0);
      const recorded = end.recorded.get(scan_id);
      const isDone = recorded?.corrected_by.includes(scan.scan_id) === true;
      const difference = combine(contribution, before.get(scan_id) ?? NONE, -1);
      const totals: ScanTotals = isDone ? one.totals : { seen, ...combine(recordedTotals, difference, 1) };
      previous = { totals, contribution, observed_at };
      stated.push({ scan_id, observed_at, totals });
      const isReliable = reliable ?? recorded?.reliable ?? false;
      const noLook = !end.looks.has(scan_id);
      const isSame = isReliable === recorded?.reliable && noLook === recorded.noLook;
      const differences = late.differences?.get(scan_id);
      if (isDone || (isEqual(totals, one.totals) && isSame && differences === undefined)) continue;
      const change = { reliable: isReliable, noLook, totals, ...(differences ? { differences } : {}) };
      corrected.push({ header, change });
    }
    const lastLook = stated.findLast(({ scan_id }) => end.looks.has(scan_id)) ?? null;
    const corrections = corrected.map(({ header, change }) =>
      correctScan(header, scan.scan_id, change, lastLook, adsNow),
    );
    const last = records.filter(({ data }) => data.scan_id === scan.scan_id);
    return [...corrections, ...records.filter((record) => !last.includes(record)), ...last];
  };

export type StatedScan = Pick<ReplayScan, 'scan_id' | 'observed_at' | 'header' | 'totals'> & {
  readonly reliable: boolean;
  readonly noLook: boolean;
};

/** Ads that only this scan showed count from the newest look on (rule 11). A recorded scan adds no events. */
export const closeHistoryScan =
  (
    scan: ScanHeader,
    end: ScanEnd,
    history: LookHistory,
    scans: readonly StatedScan[],
    moves: readonly BrandMoves[],
  ) =>
  (state: LibraryState): (ScanCorrected | ScanRecorded)[] => {
    const closing = recordScan(scan, end, history)(state);
    const stated = scans.flatMap(({ totals, ...one }) => {
      if (totals === null) return [];
      const moved = movedBetween(moves, one.observed_at, END_OF_TIME);
      const now = {
        ...totals,
        active: state.live - moved.active,
        missing: state.missing - moved.missing,
        total: state.total - moved.total,
      };
      return [{ ...one, totals, now }];
    });
    const newest = stated.findLast(({ noLook }) => !noLook);
    if (closing.length === 0 || newest === undefined) return closing;
    const { scan_id, observed_at, now: totals } = newest;
    const corrections = stated
      .filter((one) => compareScans(newest, one) <= 0 && !isEqual(one.totals, one.now))
      .map(({ header, reliable, noLook, now }) =>
        correctScan(
          header,
          scan.scan_id,
          { reliable, noLook, totals: now },
          { scan_id, observed_at, totals },
          adsNowOf(state),
        ),
      );
    return [...corrections, ...closing];
  };

/** Differences of collectors, found again in the order of observation (rules 6, 11). */

/** Only then may differences be a collector's. A late observation that is not a scan has the collector `''`. */
export const hasSeveralCollectors = ({ scan, scans }: LateScan): boolean =>
  new Set([scan, ...scans].map(({ header }) => header.collector).filter((name) => name !== '')).size > 1;

/** Counts the ads as they are with the late scan. */
export const tallyAgain =
  (
    late: LateScan,
    adIds: readonly string[],
    shown: ReadonlyMap<string, ObservedAd>,
    tallies: ScanTallies,
    shared: SharedAds = NO_SHARED_ADS,
  ) =>
  ({ ads }: LibraryState): void => {
    const all = scansWith(late);
    const met = metWith(late);
    const plain = new Map<string, ExpandedLooks>();
    for (const adId of adIds) {
      const looks = looksOfAd(late, ads.get(adId) ?? shared.foreign.get(adId), shown.get(adId)).after;
      const brands = shared.ads.get(adId)?.after;
      if (brands === undefined) {
        plain.set(adId, looks);
        continue;
      }
      const ofAd: ScanTallies = new Map();
      replayAds(all, new Map([[adId, looks]]), met, ofAd);
      for (const scan of all) {
        const more = ofAd.get(scan.scan_id);
        if (more === undefined || brandAfter(brands, scan) !== late.scan.header.brand_id) continue;
        tallies.set(scan.scan_id, addTally(tallies.get(scan.scan_id) ?? emptyTally(), more));
      }
    }
    replayAds(all, plain, met, tallies);
  };

/** Includes later scans whose differences are other than recorded. Expects the tallies of all ads of the brand. */
export const differencesWith = (
  late: LateScan,
  tallies: ScanTallies,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    scansWith(late).flatMap((one): [string, readonly string[]][] => {
      if (compareScans(one, late.scan) < 0) return [];
      const differences = repeatedDifferences(tallies.get(one.scan_id) ?? emptyTally());
      return isEqual(differences, one.differences) ? [] : [[one.scan_id, differences]];
    }),
  );
