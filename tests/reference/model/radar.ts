import { numbered } from './numbered.ts';
import type { RadarFigures } from '../world.ts';
import type { AdState } from './ad-states.ts';
import { brandOf } from './attribution.ts';
import type { Library } from './library.ts';
import { isEnded, latest, shows } from './observations.ts';

type Item = Omit<RadarFigures, 'brand'>;

const NO_DETAILS = { to: null, from: null, basis: null, stopped_on: null } as const;

const itemsOf = (
  ad: string,
  until: Library['scans'],
  before: AdState | null,
  state: AdState,
): Record<string, Item> => {
  const scan = until.at(-1);
  const shown = scan && shows(scan, ad);
  const items: Record<string, Item> = {};
  if (!before && state.novelty === 'news')
    items['ad_started'] = { ...NO_DETAILS, to: latest(ad, until.slice(-1), 'link') };
  // Decision: an ad that had stopped before, and is shown as ended again, has no changed destination.
  const isStillEnded = before?.status === 'inactive' && shown && isEnded(shown, scan);
  const to = latest(ad, until.slice(-1), 'link');
  const from = latest(ad, until.slice(0, -1), 'link');
  if (to !== null && from !== null && to !== from && !isStillEnded)
    items['destination_changed'] = { ...NO_DETAILS, to, from };
  if (state.retired)
    items['ad_stopped'] = {
      ...NO_DETAILS,
      basis: shown ? 'library' : 'absence',
      stopped_on: state.stoppedOn,
    };
  return items;
};

/** Decision: an item belongs to the brand that the ad had at the scan. Items of one ad, kind and time are numbered. */
export const radarFigures = ({ world, scans, adIds, states }: Library): Record<string, RadarFigures> => {
  const found = adIds.flatMap((ad) =>
    scans.flatMap((scan, index) => {
      const state = states.get(ad)?.[index];
      if (!state) return [];
      const until = scans.slice(0, index + 1);
      const before = states.get(ad)?.[index - 1] ?? null;
      const brand = brandOf(ad, until, scan, world);
      return Object.entries(itemsOf(ad, until, before, state)).map(([type, item]) => ({
        name: `${ad} ${type} ${scan.at}`,
        item: { brand, ...item },
      }));
    }),
  );
  return numbered(found);
};
