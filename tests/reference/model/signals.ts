import type { Figures, SignalFigures, World } from '../world.ts';
import { linksOf } from './attribution.ts';
import { dayOf } from './observations.ts';

/** Signals of brands and days: groups of the radar's items, and new linked pages (DESIGN §9). */

const KIND_OF_ITEM: Readonly<Record<string, string>> = {
  ad_started: 'ads_started',
  ad_stopped: 'ads_stopped',
  destination_changed: 'destinations_changed',
};

type Found = { readonly name: string; readonly at: string };

const foundItems = (radar: Figures['radar']): Found[] =>
  Object.entries(radar).map(([name, { brand }]) => {
    const [, type = '', at = ''] = name.split(' ');
    return { name: `${brand} ${dayOf(at)} ${KIND_OF_ITEM[type]}`, at };
  });

/** Decision: the pages that were linked on the first day on which any was are no news of the brand. */
const foundPages = (world: World): Found[] =>
  world.brands.flatMap((brand) => {
    const links = linksOf(world).filter((link) => link.brand === brand && link.linked);
    const firstOfPages = [...Map.groupBy(links, ({ page }) => page).values()].map(
      ([first]) => first?.at ?? '',
    );
    const firstDay = dayOf(links[0]?.at ?? '');
    return firstOfPages
      .filter((at) => dayOf(at) > firstDay)
      .map((at) => ({ name: `${brand} ${dayOf(at)} new_linked_page`, at }));
  });

export const signalFigures = (world: World, radar: Figures['radar']): Record<string, SignalFigures> => {
  const groups = Map.groupBy([...foundItems(radar), ...foundPages(world)], ({ name }) => name);
  return Object.fromEntries(
    [...groups].map(([name, group]) => {
      const observedAt =
        group
          .map(({ at }) => at)
          .toSorted()
          .at(-1) ?? '';
      return [name, { items: group.length, observed_at: observedAt }];
    }),
  );
};
