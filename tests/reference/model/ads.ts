import type { AdFigures, Scan } from '../world.ts';
import type { AdState } from './ad-states.ts';
import { brandOf, END_OF_TIME } from './attribution.ts';
import type { Library } from './library.ts';
import { DAY_MS, dayOf, latest, shows } from './observations.ts';

/** Rule 12: from the start date, else the first sighting, to the stop date, else the last sighting as running. */
const daysActiveOf = (startedOn: string | null, state: AdState): number | null => {
  const to = state.stoppedOn ?? (state.lastRunningAt && dayOf(state.lastRunningAt));
  const from = startedOn ?? dayOf(state.firstSeenAt);
  return to === null ? null : Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY_MS);
};

/** Decision: a scan of several countries adds none unless the ad itself names them. */
const countriesOf = (ad: string, scans: readonly Scan[]): string[] => {
  const named = scans.flatMap((scan) => {
    const shown = shows(scan, ad);
    return shown ? (shown.countries ?? (scan.countries.length === 1 ? scan.countries : [])) : [];
  });
  return [...new Set(named)].filter((country) => country !== 'ALL').toSorted();
};

export const adFigures = ({ world, scans, adIds, states }: Library): Record<string, AdFigures> => {
  const ads: Record<string, AdFigures> = {};
  for (const ad of adIds) {
    const state = states.get(ad)?.at(-1);
    if (!state) throw new Error(`ad ${ad} has no state`);
    const startedOn = latest(ad, scans, 'startedOn');
    ads[ad] = {
      brand: brandOf(ad, scans, END_OF_TIME, world),
      status: state.status,
      page: latest(ad, scans, 'page'),
      first_seen: state.firstSeenAt,
      last_seen: state.lastSeenAt,
      novelty: state.novelty,
      inactive_since: state.inactiveSince,
      started_on: startedOn,
      stopped_on: state.stoppedOn,
      days_active: daysActiveOf(startedOn, state),
      countries: countriesOf(ad, scans),
      body: latest(ad, scans, 'body'),
      title: latest(ad, scans, 'title'),
      caption: latest(ad, scans, 'caption'),
      link: latest(ad, scans, 'link'),
    };
  }
  return ads;
};
