import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { observedDay, refreshDay } from '../shared-tables/observed-day.ts';
import { type Change, projection, type Statement } from '../define-projection.ts';

/** Days before an ad's last move hold the ads of the brand as known at their scans. */
const recordLastMove: Statement = {
  columns: { brand_id: 'uuid', moved_at: 'timestamptz', moved_by: 'text' },
  touches: ['last_move'],
  sql: `
    insert into last_move as m (brand_id, moved_at, moved_by)
    select distinct on (brand_id) brand_id, moved_at, moved_by from :input i
    order by brand_id, moved_at desc, moved_by collate "C" desc
    on conflict (brand_id) do update set moved_at = excluded.moved_at, moved_by = excluded.moved_by
    where (excluded.moved_at, excluded.moved_by) > (m.moved_at, m.moved_by)`,
};

const move = (brand_id: string, moved_at: string, moved_by: string): Change => ({
  kind: 'run',
  statement: 'move',
  row: { brand_id, moved_at, moved_by },
});

/** Covers the brands that an ad came to or left, also those whose stream never held it. */
const movesOf = (placings: readonly BrandSince[] = []): readonly Change[] =>
  placings.flatMap(({ brand_id, observed_at, scan_id }, index) => {
    const before = placings[index - 1];
    return before === undefined
      ? []
      : [move(before.brand_id, observed_at, scan_id), move(brand_id, observed_at, scan_id)];
  });

export const dailyActivity = projection<AdLibraryEvent>({
  name: 'daily-activity',
  version: 6,
  prefixes: ['adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { day: refreshDay, applied_scan: recordAppliedScan, move: recordLastMove },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'ScanRecorded':
      case 'ScanCorrected':
        return [...observedDay(event), appliedScan(event)];
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
        return [];
      case 'AdObservationCorrected':
        return movesOf(event.data.after.placings);
      case 'AdAttributed': {
        const { brand_id, observed_at, ad } = event.data;
        return [move(brand_id, observed_at, ''), ...movesOf(ad.placings?.slice(0, -1))];
      }
    }
  },
});
