import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';

export const adIdsOf = (event: AdLibraryEvent): readonly string[] => {
  switch (event.type) {
    case 'AdStarted':
    case 'AdRevised':
    case 'AdDetailsObserved':
    case 'AdDestinationChanged':
    case 'AdConfirmedInactive':
    case 'AdReturned':
    case 'AdObservationCorrected':
    case 'AdAttributed':
      return [event.data.ad_id];
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return event.data.ad_ids;
    case 'AdsReworded':
      return event.data.ads.map(({ ad_id }) => ad_id);
    case 'ScanCorrected':
    case 'ScanRecorded':
      return [];
  }
};
