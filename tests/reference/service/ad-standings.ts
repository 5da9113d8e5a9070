import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { Event } from '#contracts/events/event.ts';
import type { AdFigures } from '../world.ts';

/** Figures of an ad that the log holds and no read model shows by itself. */
export type Standing = Pick<AdFigures, 'novelty' | 'inactive_since'>;

/** Folds novelty and stop of each ad from the log; a later correction replaces what was recorded before. */
export const createStandings = () => {
  const standings = new Map<string, Standing>();
  const set = (ad_id: string, change: Partial<Standing>): void => {
    standings.set(ad_id, { novelty: null, inactive_since: null, ...standings.get(ad_id), ...change });
  };
  const fold = (event: Event): void => {
    const { type, data } = event as AdLibraryEvent;
    switch (type) {
      case 'AdStarted':
        return set(data.ad_id, { novelty: data.novelty });
      case 'AdConfirmedInactive':
        return set(data.ad_id, { inactive_since: data.observed_at });
      case 'AdReturned':
        return set(data.ad_id, { inactive_since: null });
      case 'AdObservationCorrected':
        return set(data.ad_id, { novelty: data.after.novelty, inactive_since: data.after.inactive_since });
      case 'AdAttributed':
        return set(data.ad_id, { novelty: data.ad.novelty, inactive_since: data.ad.inactive_since });
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsReworded':
      case 'ScanRecorded':
      case 'ScanCorrected':
    }
  };
  return { fold, of: (ad_id: string): Standing | undefined => standings.get(ad_id) };
};

export type Standings = ReturnType<typeof createStandings>;
