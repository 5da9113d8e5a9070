import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { addContributions, type BrandMoves } from '../contributions.ts';
import {
  type Contribution,
  countriesOfLook,
  type ExpandedLooks,
  insertScan,
  lookOf,
  type Replay,
  replayAds,
  type ReplayScan,
} from '../replay.ts';
import { endedInLibrary, saidCountries } from '../scan.ts';
import { type AdState, NO_PAGE } from '../state.ts';
import { compareScans, expandLooks } from '../timeline.ts';
import { brandAfter, brandBefore, type SharedAd, type TimelineEntry } from '../attribution/brand-timeline.ts';

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

/**
 * A complete scan of the page without the ad is an absence. So are scans elsewhere after the late look, until one shows
 * it.
 */
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
