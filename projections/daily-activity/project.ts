import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { observedDay, refreshDay } from '../shared-tables/observed-day.ts';
import { type Change, projection, type Statement } from '../define-projection.ts';

/** Records when an ad last came to a brand or left it: days before hold the ads of the brand as known at their scans. */
const recordLastMove: Statement = {
  columns: { brand_id: 'uuid', moved_at: 'timestamptz' },
  touches: ['last_move'],
  sql: `
    insert into last_move as m (brand_id, moved_at)
    select brand_id, max(moved_at) from :input i group by brand_id
    on conflict (brand_id) do update set moved_at = excluded.moved_at where excluded.moved_at > m.moved_at`,
};

/** Active, new and retired ads of a brand by day. */
export const dailyActivity = projection<AdLibraryEvent>({
  name: 'daily-activity',
  version: 5,
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
      case 'AdObservationCorrected':
        return [];
      case 'AdAttributed': {
        const { brand_id, observed_at: moved_at } = event.data;
        return [{ kind: 'run', statement: 'move', row: { brand_id, moved_at } }];
      }
      default:
        event satisfies never;
        return [];
    }
  },
});
