import { isEqual } from 'es-toolkit/predicate/isEqual';
import { omit } from 'es-toolkit/object/omit';
import type { AdLibraryEvent, ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent, ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import type {
  AdLook,
  BrandSince,
  LastLook,
  Occurrence,
  ScanCorrected,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { closeScan } from './decider.ts';
import { combine, movedBetween, NONE, totalsAfter } from './contributions.ts';
import { brandAfter, brandsOf, changesOf } from './attribution/brand-timeline.ts';
import {
  type LateScan,
  type LateTotals,
  looksOfAd,
  metWith,
  NO_SHARED_ADS,
  replayBoth,
  scansWith,
  type SharedAds,
} from './late/replay-both.ts';
import { type ExpandedLooks, historyOf, insertScan, type ReplayScan } from './replay.ts';
import { correctScan, type ScanHeader, sightingOf } from './scan.ts';
import {
  type AdState,
  adsNowOf,
  lastSeenAt,
  type LibraryState,
  NO_PAGE,
  recordOf,
  standingOf,
} from './state.ts';
import { compactLooks, compareScans, expandLooks, withLook } from './timeline.ts';

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
