import type { AdLibraryEvent, ScanTotals } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { emptyLibrary, evolve, type LibraryState } from '#domain/corpus/ad-library/state.ts';
import { recordAbsences } from '#domain/corpus/ad-library/absences.ts';
import { recordScan, recordSightings } from '#domain/corpus/ad-library/decider.ts';
import {
  collectorChanged,
  emptyTally,
  rewordedAspects,
  tallyRewording,
} from '#domain/corpus/ad-library/collector-rewording.ts';
import type { ScanHeader } from '#domain/corpus/ad-library/scan.ts';
import { brandIdOf, scanIdOf } from '#domain/ids.ts';

/** Test language of library scans: `library().scan(options, ads)` records whole scans of one brand, in order. */

export const BRAND = brandIdOf('shop.example');
export const PAGE = '100000001';

export const ad = (id: number | string, fields: Partial<ObservedAd> = {}): ObservedAd => ({
  ad_id: String(id).padStart(10, '9'),
  page_id: PAGE,
  page_name: 'Shop',
  is_active: null,
  started_on: null,
  stopped_on: null,
  body: null,
  title: null,
  link_description: null,
  caption: null,
  cta_type: null,
  cta_text: null,
  link_url: null,
  format: null,
  platforms: null,
  languages: null,
  media: [],
  cards: [],
  versions: [],
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
  partialPages: new Set(),
});

export type Library = {
  readonly state: LibraryState;
  /** Records a whole scan. Throws when a part of it records further events on being decided again. */
  scan(
    options: ScanOptions,
    ads: readonly ObservedAd[],
    linkedPages?: readonly string[],
  ): readonly AdLibraryEvent[];
  /** Totals of the last recorded scan. Throws when none was recorded. */
  readonly totals: ScanTotals;
};

const partialPagesOf = (
  { ads }: LibraryState,
  { countries = ['US'], pages = [PAGE], complete = true }: ScanOptions,
): ReadonlySet<string> =>
  new Set(
    [...ads.values()].flatMap((existing) => {
      const isElsewhere = existing.countries.some((country) => !countries.includes(country));
      const isCovered = complete && !countries.includes('ALL') && existing.status !== 'inactive';
      return isElsewhere && isCovered && pages.includes(existing.page_id ?? '')
        ? [existing.page_id ?? '']
        : [];
    }),
  );

export const library = (): Library => {
  const state = emptyLibrary();
  let totals: ScanTotals | undefined;
  return {
    state,
    get totals() {
      if (!totals) throw new Error('no scan was recorded');
      return totals;
    },
    scan: (options, ads, linkedPages = []) => {
      const scan = { ...scanHeader(options), partialPages: partialPagesOf(state, options) };
      const recorded: AdLibraryEvent[] = [];
      const history = new Map(state.pages);
      const part = (decide: (state: LibraryState) => readonly AdLibraryEvent[]): void => {
        const events = decide(state);
        for (const event of events) evolve(state, event);
        recorded.push(...events);
        const again = decide(state);
        if (again.length > 0) throw new Error(`decided again, it records ${JSON.stringify(again)}`);
      };
      const reworded = collectorChanged(scan, state)
        ? rewordedAspects(tallyRewording(scan, ads, emptyTally())(state))
        : [];
      part(recordSightings(scan, ads, reworded, history));
      const shown = new Set(ads.map(({ ad_id }) => ad_id));
      part(
        recordAbsences(
          scan,
          [...state.ads.keys()].filter((id) => !shown.has(id)),
        ),
      );
      part(recordScan(scan, { seen: shown.size, linkedPages }, history));
      const end = recorded.at(-1);
      if (end?.type === 'ScanRecorded') totals = end.data.totals;
      return recorded;
    },
  };
};

export const typesOf = (events: readonly AdLibraryEvent[]): readonly string[] =>
  events.filter(({ type }) => type !== 'ScanRecorded').map(({ type }) => type);
