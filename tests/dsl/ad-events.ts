import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent, ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { derivedId } from '#domain/ids.ts';

/** Events of the ad library that no decider made, for tests of what reads them. */

export const BLANK_CONTENT: AdContent = {
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
};

export const NO_TOTALS: ScanTotals = {
  seen: 0,
  active: 0,
  missing: 0,
  total: 0,
  baseline: 0,
  news: 0,
  late: 0,
  stopped: 0,
  returned: 0,
  revised: 0,
  destination_changed: 0,
  reworded: 0,
};

type Given = Omit<Partial<ScanRecorded['data']>, 'totals'> & { readonly totals?: Partial<ScanTotals> };

/** A complete and reliable scan, without the values that are not given. */
export const scanRecorded = (
  brand_id: string,
  observed_at: string,
  { totals, ...given }: Given = {},
): ScanRecorded => ({
  type: 'ScanRecorded',
  data: {
    brand_id,
    scan_id: derivedId('scan', `${brand_id} ${observed_at}`),
    observed_at,
    scanned_for: brand_id,
    collector: 'tests',
    complete: true,
    countries: ['US'],
    pages: [],
    reliable: true,
    late_arrival: false,
    ...given,
    totals: { ...NO_TOTALS, ...totals },
  },
});
