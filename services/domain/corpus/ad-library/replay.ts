import { omit } from 'es-toolkit/object/omit';
import { pickBy } from 'es-toolkit/object/pickBy';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ScanTotals, ShownFields } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLook, Occurrence } from '#contracts/events/corpus/ad-library-corrections.ts';
import { BLANK_AD, type ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { recordAbsences } from './absences.ts';
import { isBlank } from './ad-content.ts';
import {
  type DifferenceTally,
  NO_SWITCH,
  byExpandedLooks,
  collectorSwitch,
  emptyTally,
  tallyDifferences,
} from './collector-differences.ts';
import { closeScan, recordSightings } from './decider.ts';
import type { LookHistory, PageHistory, PageLook } from './looks.ts';
import type { ScanHeader } from './scan.ts';
import { type AdState, emptyLibrary, type LibraryState, NO_COUNTS, NO_PAGE } from './state.ts';
import { evolve } from './evolve.ts';
import { compareScans, type LoggedScan } from './timeline.ts';

export type ReplayScan = LoggedScan & {
  readonly header: ScanHeader;
  /** On most of its ads (rule 6). */
  readonly differences: readonly string[];
  /** `null` when the brand's stream does not have the scan. */
  readonly totals: ScanTotals | null;
};

export type Contribution = Omit<ScanTotals, 'seen'>;

export type Replay = {
  readonly ads: ReadonlyMap<string, AdState>;
  readonly contributions: ReadonlyMap<string, Contribution>;
  readonly concerned: ReadonlySet<string>;
  readonly occurrences: ReadonlyMap<string, readonly Occurrence[]>;
};

/** By scan id, as `expandLooks` returns them. */
export type ExpandedLooks = ReadonlyMap<string, AdLook>;

const observedAd = (ad_id: string, { kind, shown }: AdLook): ObservedAd => ({
  ...BLANK_AD,
  ...(shown as Partial<ObservedAd>),
  ad_id,
  is_active: kind === 'running',
  stopped_on: kind === 'ended' ? (shown?.stopped_on ?? null) : null,
});

/** Returns what a scan showed of an ad as a look. */
export const lookOf = (scan: ScanHeader, ad: ObservedAd, isEnded: boolean): AdLook => {
  const fields: object = omit(ad, ['ad_id', 'is_active']);
  const shown: ShownFields = pickBy(fields, (value) => !isBlank(value));
  return {
    scan_id: scan.scan_id,
    observed_at: scan.scanned_at,
    kind: isEnded ? 'ended' : 'running',
    shown: isEnded ? shown : omit(shown, ['stopped_on']),
  };
};

/** Countries that a late look adds; without any, those of the look before, so that both looks are equal. */
export const countriesOfLook = (
  said: readonly string[],
  looks: ExpandedLooks,
  scan: ReplayScan,
): readonly string[] => {
  const before = [...looks.values()].filter((look) => compareScans(look, scan) < 0).toSorted(compareScans);
  const known = new Set(before.flatMap(({ shown }) => shown?.countries ?? []));
  if (said.some((country) => !known.has(country))) return said;
  return before.findLast(({ kind }) => kind !== 'absent')?.shown?.countries ?? said;
};

/** `metAt`: first ad by page id, or, without a page, by the id of the scan's brand. */
export const historyOf = (
  scans: readonly ReplayScan[],
  scannedFor: string,
  metAt: ReadonlyMap<string, string>,
): LookHistory => {
  const looks = new Map<string, PageLook[]>();
  const searches: PageLook[] = [];
  const firstNamed = new Map<string, string>();
  for (const { header, complete, pageIds } of scans) {
    for (const pageId of pageIds) {
      if (!firstNamed.has(pageId)) firstNamed.set(pageId, header.scanned_at);
    }
    if (!complete) continue;
    const look = { scan_id: header.scan_id, observed_at: header.scanned_at, countries: header.countries };
    for (const pageId of pageIds) looks.set(pageId, [...(looks.get(pageId) ?? []), look]);
    if (header.scanned_for === scannedFor) searches.push(look);
  }
  const pages = new Map<string, PageHistory>();
  for (const pageId of new Set([...firstNamed.keys(), ...metAt.keys()])) {
    const met = [metAt.get(pageId), firstNamed.get(pageId)].filter((time) => time !== undefined);
    const met_at = met.length === 0 ? null : met.reduce((a, b) => (a < b ? a : b));
    pages.set(pageId, { met_at, looks: looks.get(pageId) ?? [] });
  }
  const met_at = metAt.get(scannedFor);
  if (met_at !== undefined) pages.set(NO_PAGE, { met_at, looks: [] });
  return { pages, searches };
};

const occurrenceOf = (event: AdLibraryEvent): Occurrence | null => {
  const { scan_id, observed_at } = event.data;
  const at = { scan_id, observed_at };
  if (event.type === 'AdStarted') {
    const { novelty, content } = event.data;
    return novelty === 'news' ? { kind: 'started', ...at, to_url: content.link_url } : null;
  }
  if (event.type === 'AdConfirmedInactive') {
    const { news, basis, stopped_on } = event.data;
    return news ? { kind: 'stopped', ...at, basis, stopped_on } : null;
  }
  if (event.type !== 'AdDestinationChanged') return null;
  const { from_url, to_url } = event.data;
  return { kind: 'destination_changed', ...at, from_url, to_url };
};

/** Not inactive, on a page that the scan names, and not shown. */
const absentIds = (state: LibraryState, scan: ReplayScan, shown: ReadonlySet<string>): readonly string[] =>
  [...state.ads.values()]
    .filter(
      ({ ad_id, status, page_id }) =>
        status !== 'inactive' && scan.pageIds.has(page_id ?? NO_PAGE) && !shown.has(ad_id),
    )
    .map(({ ad_id }) => ad_id);

export type ScanTallies = Map<string, DifferenceTally>;

/**
 * Expects the brand's scans, and others that named a page of the ads, in the order of observation. `metAt`: first ad of
 * each page. Adds to `tallies`, if given.
 */
export const replayAds = (
  scans: readonly ReplayScan[],
  ads: ReadonlyMap<string, ExpandedLooks>,
  metAt: ReadonlyMap<string, string>,
  tallies?: ScanTallies,
): Replay => {
  const state = emptyLibrary();
  const contributions = new Map<string, Contribution>();
  const concerned = new Set<string>();
  const occurrences = new Map<string, Occurrence[]>();
  const histories = new Map<string, LookHistory>();
  const earlierLooks = new Map<string, PageLook[]>();
  const fold = (events: readonly AdLibraryEvent[]): void => {
    for (const event of events) {
      evolve(state, event);
      const occurrence = occurrenceOf(event);
      if (occurrence === null || !('ad_id' in event.data)) continue;
      occurrences.set(event.data.ad_id, [...(occurrences.get(event.data.ad_id) ?? []), occurrence]);
    }
  };
  const lastShowingOf = byExpandedLooks(ads);
  for (const [index, scan] of scans.entries()) {
    // Every page counts as partly covered: then each sighting has its own event, and `seen_at` is exact.
    const header = { ...scan.header, partialPages: scan.pageIds, isHistory: false };
    const history = histories.get(header.scanned_for) ?? historyOf(scans, header.scanned_for, metAt);
    histories.set(header.scanned_for, history);
    const shown = [...ads].flatMap(([adId, looks]) => {
      const look = looks.get(scan.scan_id);
      return look === undefined || look.kind === 'absent' ? [] : [observedAd(adId, look)];
    });
    const switched = collectorSwitch(header, scan.differences, scans.slice(0, index), lastShowingOf);
    if (tallies && switched !== NO_SWITCH) {
      const tally = tallies.get(scan.scan_id) ?? emptyTally();
      tallies.set(scan.scan_id, tallyDifferences(switched, shown, tally)(state));
    }
    fold(recordSightings(header, shown, switched, history)(state));
    const shownIds = new Set(shown.map(({ ad_id }) => ad_id));
    if (scan.complete) {
      const absent = absentIds(state, scan, shownIds);
      if (absent.length > 0) concerned.add(scan.scan_id);
      fold(recordAbsences(header, absent, earlierLooks)(state));
    }
    const counts = state.open?.scan_id === scan.scan_id ? state.open.counts : NO_COUNTS;
    const contribution = { active: state.live, missing: state.missing, total: state.total, ...counts };
    contributions.set(scan.scan_id, contribution);
    const end = { seen: shown.length, reliable: false, late: false };
    evolve(state, closeScan(header, end, history, { seen: shown.length, ...contribution }));
    if (!scan.complete) continue;
    const look = { scan_id: scan.scan_id, observed_at: scan.observed_at, countries: header.countries };
    for (const pageId of scan.pageIds) earlierLooks.set(pageId, [...(earlierLooks.get(pageId) ?? []), look]);
  }
  return { ads: state.ads, contributions, concerned, occurrences };
};

export const insertScan = (scans: readonly ReplayScan[], scan: ReplayScan): readonly ReplayScan[] =>
  [...scans, scan].toSorted(compareScans);
