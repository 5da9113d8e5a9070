import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { observedDay, refreshDay } from '../shared-tables/observed-day.ts';
import { type Change, projection } from '../define-projection.ts';

/** Active, new and retired ads of a brand by day. */
export const dailyActivity = projection<AdLibraryEvent>({
  name: 'daily-activity',
  version: 4,
  prefixes: ['adLibrary-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { day: refreshDay, applied_scan: recordAppliedScan },
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
      case 'AdAttributed':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
