import { expect, it } from 'vitest';
import { correctAds, emptyLateTotals } from '#domain/corpus/ad-library/late-scan.ts';
import type { ReplayScan } from '#domain/corpus/ad-library/replay.ts';
import { emptyLibrary } from '#domain/corpus/ad-library/state.ts';
import { ad, BRAND, PAGE, scanHeader } from '#tests/dsl/scans.ts';

const TIME = '2026-05-01T10:00:00.000Z';

it.each([
  ['running', null, 1],
  ['ended', false, 0],
])(
  'the first sighting of an ad that is %s, and has another brand later, states the number of ads',
  (_, is_active, active) => {
    const header = scanHeader({ at: TIME });
    const scan: ReplayScan = {
      ...header,
      observed_at: TIME,
      recorded: true,
      header,
      differences: [],
      totals: null,
    };
    const shown = ad(1, { is_active });
    const since = { scan_id: header.scan_id, observed_at: TIME, brand_id: BRAND, byScan: true };
    const later = { ...since, observed_at: '2026-05-02T10:00:00.000Z', brand_id: 'other', byScan: false };
    const shared = {
      ads: new Map([[shown.ad_id, { before: [], after: [since, later] }]]),
      foreign: new Map(),
      unsettled: new Set<string>(),
    };
    const late = { scan, scans: [], metAt: new Map(), shownPages: [PAGE], moves: [] };
    const ads = new Map([[shown.ad_id, shown]]);
    const events = correctAds(late, [shown.ad_id], ads, emptyLateTotals(), shared)(emptyLibrary());
    expect(events.map(({ data }) => 'ads_now' in data && data.ads_now)).toEqual([{ active, total: 1 }]);
  },
);
