import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { observedDay, recordObservedDay } from '../shared-tables/observed-day.ts';
import { type Change, projection } from '../define-projection.ts';

/** Active, new and retired ads of a brand by day. */
export const dailyActivity = projection<AdLibraryEvent>({
  name: 'daily-activity',
  version: 2,
  prefixes: ['adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { record_day: recordObservedDay, applied_scan: recordAppliedScan },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'ScanRecorded':
        return [observedDay(event), appliedScan(event)];
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
