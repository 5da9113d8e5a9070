import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { Event } from '#contracts/events/event.ts';
import type { AdFigures, ChangeFigures } from '../world.ts';

export type Standing = Pick<AdFigures, 'novelty' | 'inactive_since'>;

type ScanChanges = ChangeFigures & { readonly day: string };

/** A later correction replaces what was recorded before. */
export const createStandings = () => {
  const standings = new Map<string, Standing>();
  const set = (ad_id: string, change: Partial<Standing>): void => {
    standings.set(ad_id, { novelty: null, inactive_since: null, ...standings.get(ad_id), ...change });
  };
  /** By brand id and scan id. */
  const changes = new Map<string, Map<string, ScanChanges>>();
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
        return;
      case 'ScanRecorded':
      case 'ScanCorrected': {
        const { brand_id, scan_id, observed_at, totals } = data;
        const ofBrand = changes.get(brand_id) ?? new Map<string, ScanChanges>();
        const { revised, reworded } = totals;
        changes.set(brand_id, ofBrand.set(scan_id, { day: observed_at.slice(0, 10), revised, reworded }));
      }
    }
  };
  const changesOf = (brandId: string): Readonly<Record<string, ChangeFigures>> => {
    const days: Record<string, ChangeFigures> = {};
    for (const { day, revised, reworded } of changes.get(brandId)?.values() ?? []) {
      if (revised + reworded === 0) continue;
      const sum = days[day] ?? { revised: 0, reworded: 0 };
      days[day] = { revised: sum.revised + revised, reworded: sum.reworded + reworded };
    }
    return days;
  };
  return { fold, of: (ad_id: string): Standing | undefined => standings.get(ad_id), changesOf };
};

export type Standings = ReturnType<typeof createStandings>;
