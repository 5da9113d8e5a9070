import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { BLANK_AD, type ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import {
  emptyLibrary,
  type LibraryState,
  pageMetAt,
  pairCountries,
} from '#domain/corpus/ad-library/state.ts';
import { evolve } from '#domain/corpus/ad-library/evolve.ts';
import { recordAbsences } from '#domain/corpus/ad-library/absences.ts';
import { recordScan, recordSightings } from '#domain/corpus/ad-library/decider.ts';
import {
  byStoredLooks,
  collectorSwitch,
  emptyTally,
  repeatedDifferences,
  tallyDifferences,
} from '#domain/corpus/ad-library/collector-differences.ts';
import {
  closeLateScan,
  correctAds,
  differencesWith,
  emptyLateTotals,
  tallyAgain,
} from '#domain/corpus/ad-library/late-scan.ts';
import type { PageLook } from '#domain/corpus/ad-library/looks.ts';
import { reliableScans } from '#domain/corpus/ad-library/reliability.ts';
import {
  historyOf,
  insertScan,
  type ReplayScan,
  type ScanTallies,
} from '#domain/corpus/ad-library/replay.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { isLate } from '#domain/corpus/ad-library/timeline.ts';
import { brandIdOf, scanIdOf } from '#domain/ids.ts';

/** `library().scan(options, ads)` records whole scans of one brand, in any order. */

export const BRAND = brandIdOf('shop.example');
export const PAGE = '100000001';

export const ad = (id: number | string, fields: Partial<ObservedAd> = {}): ObservedAd => ({
  ...BLANK_AD,
  ad_id: String(id).padStart(10, '9'),
  page_id: PAGE,
  page_name: 'Shop',
  ...fields,
});

export type ScanOptions = {
  readonly at: string;
  readonly complete?: boolean;
  readonly pages?: readonly string[];
  readonly countries?: readonly string[];
  readonly collector?: string;
};

export const scanHeader = ({
  at,
  complete = true,
  pages = [PAGE],
  countries = ['US'],
  collector = 'one',
}: ScanOptions): ScanHeader => ({
  scan_id: scanIdOf('shop.example', at, JSON.stringify([complete, pages, countries, collector])),
  brand_id: BRAND,
  scanned_for: BRAND,
  scanned_at: new Date(at).toISOString(),
  complete,
  countries,
  collector,
  pages: pages.map((page_id) => ({ page_id, page_name: null })),
  pageIds: new Set(pages),
  partialPages: new Set(),
  isHistory: false,
});

export type Library = {
  readonly state: LibraryState;
  /** Throws when a part of the scan records further events on being decided again. */
  scan(
    options: ScanOptions,
    ads: readonly ObservedAd[],
    linkedPages?: readonly string[],
  ): readonly AdLibraryEvent[];
  /** Totals of the last scan. Throws when none was recorded. */
  readonly totals: ScanTotals;
  /** Recorded scans with their totals as corrected, in the order of observation. */
  readonly log: readonly (ReplayScan & { readonly reliable: boolean })[];
};

const partialPagesOf = (
  { ads }: LibraryState,
  { countries = ['US'], pages = [PAGE], complete = true }: ScanOptions,
): ReadonlySet<string> =>
  new Set(
    [...ads.values()].flatMap((existing) => {
      const isElsewhere = pairCountries(existing).some((country) => !countries.includes(country));
      const isCovered = complete && !countries.includes('ALL') && existing.status !== 'inactive';
      return isElsewhere && isCovered && pages.includes(existing.page_id ?? '')
        ? [existing.page_id ?? '']
        : [];
    }),
  );

const firstAdTimes = ({ ads }: LibraryState): ReadonlyMap<string, string> => {
  const times = new Map<string, string>();
  for (const one of ads.values()) {
    if (one.page_id === null) continue;
    const metAt = pageMetAt(one);
    const before = times.get(one.page_id);
    if (before === undefined || metAt < before) times.set(one.page_id, metAt);
  }
  return times;
};

export const library = (): Library => {
  const state = emptyLibrary();
  let log: readonly (ReplayScan & { reliable: boolean; corrected_by: readonly string[] })[] = [];
  let totals: ScanTotals | undefined;
  /** Time of the first scan that showed an ad without a page. */
  let pagelessAt: string | null = null;

  const looksBefore = (header: ScanHeader): ReadonlyMap<string, readonly PageLook[]> => {
    const looks = new Map<string, PageLook[]>();
    for (const { complete, pageIds, scan_id, observed_at, header: earlier } of log) {
      if (!complete || observed_at > header.scanned_at) continue;
      for (const pageId of pageIds) {
        looks.set(pageId, [
          ...(looks.get(pageId) ?? []),
          { scan_id, observed_at, countries: earlier.countries },
        ]);
      }
    }
    return looks;
  };

  return {
    state,
    get totals() {
      if (!totals) throw new Error('no scan was recorded');
      return totals;
    },
    scan: (options, ads, linkedPages = []) => {
      const header = { ...scanHeader(options), partialPages: partialPagesOf(state, options) };
      if (state.recordedScans.has(header.scan_id)) return [];
      const recorded: AdLibraryEvent[] = [];
      const part = (decide: (state: LibraryState) => readonly AdLibraryEvent[]): void => {
        const events = decide(state);
        for (const event of events) evolve(state, event);
        recorded.push(...events);
        const again = decide(state);
        if (again.length > 0) throw new Error(`decided again, it records ${JSON.stringify(again)}`);
      };
      const shown = new Map(ads.map((one) => [one.ad_id, one]));
      const own: ReplayScan = {
        scan_id: header.scan_id,
        observed_at: header.scanned_at,
        complete: header.complete,
        pageIds: header.pageIds,
        partialPages: header.partialPages,
        recorded: true,
        header,
        differences: [],
        totals: null,
      };
      const complete = [...log, own]
        .filter((scan) => scan.complete)
        .map((scan) => ({ ...scan, ...scan.header }));
      const links = linkedPages.map((page_id) => ({ page_id, from: '', until: null }));
      const verdicts = reliableScans(BRAND, links, complete);
      const reliable = verdicts.get(header.scan_id) ?? false;
      const metAt = new Map(firstAdTimes(state));
      if (pagelessAt !== null) metAt.set(BRAND, pagelessAt);
      const isPageless = ads.some(({ page_id }) => page_id === null);
      if (isPageless && (pagelessAt === null || header.scanned_at < pagelessAt))
        pagelessAt = header.scanned_at;
      if (isLate(header, log)) {
        const shownPages = ads.map(({ page_id }) => page_id ?? '');
        const found = { scan: own, scans: log, metAt, shownPages, moves: [] };
        const sums = emptyLateTotals();
        const adIds = [...new Set([...shown.keys(), ...state.ads.keys()])];
        const tallies: ScanTallies = new Map();
        tallyAgain(found, adIds, shown, tallies)(state);
        const late = { ...found, differences: differencesWith(found, tallies) };
        let isAgain = false;
        part((current) => {
          const added = isAgain ? emptyLateTotals() : sums;
          isAgain = true;
          return correctAds(late, adIds, shown, added)(current);
        });
        const end = {
          seen: shown.size,
          looks: new Set([own, ...log].map(({ scan_id }) => scan_id)),
          reliable: verdicts,
          recorded: new Map(log.map((scan) => [scan.scan_id, { ...scan, noLook: false }])),
        };
        part(closeLateScan(late, end, sums));
      } else {
        const history = historyOf(log, BRAND, metAt);
        const tally = tallyDifferences(collectorSwitch(header, [], log, byStoredLooks), ads, emptyTally());
        const differences = repeatedDifferences(tally(state));
        const switched = collectorSwitch(header, differences, log, byStoredLooks);
        part(recordSightings(header, ads, switched, history));
        const absent = [...state.ads.keys()].filter((id) => !shown.has(id));
        part(recordAbsences(header, absent, looksBefore(header)));
        part(recordScan(header, { seen: shown.size, reliable, late: false, differences }, history));
      }
      for (const event of recorded) {
        if (event.type === 'ScanRecorded' && event.data.scan_id === header.scan_id) {
          ({ totals } = event.data);
          const { reliable: isReliable, differences = [] } = event.data;
          const one = { ...own, differences, totals, reliable: isReliable, corrected_by: [] };
          log = insertScan(log, one) as typeof log;
        }
        if (event.type !== 'ScanCorrected') continue;
        const { scan_id, corrected_by, ...corrected } = event.data;
        log = log.map((scan) =>
          scan.scan_id === scan_id
            ? {
                ...scan,
                corrected_by: [...scan.corrected_by, corrected_by],
                totals: corrected.totals,
                differences: corrected.differences ?? scan.differences,
                reliable: corrected.reliable,
              }
            : scan,
        );
      }
      return recorded;
    },
    get log() {
      return log;
    },
  };
};

export const typesOf = (events: readonly AdLibraryEvent[]): readonly string[] =>
  events.filter(({ type }) => type !== 'ScanRecorded').map(({ type }) => type);
