import { NEW_ADVERTISER_DAYS, NEWEST_SCAN_AT, type Figures, type NewAdvertiserFigures } from '../../world.ts';
import type { Library } from '../library.ts';
import { DAY_MS, dayOf } from '../observations.ts';
import { categoriesOf } from './categories.ts';

/** Brands first scanned before the window, whose first ad started in it (GET /v1/rankings/new-advertisers). */

/**
 * Decision: an ad started by the library's date, else when it was first seen, and counts for its present brand. Brands
 * without a category are not listed. Brands with as many ads are in the order of their ids.
 */
export const newAdvertiserFigures = (
  { world, looks }: Library,
  ads: Figures['ads'],
): Record<string, NewAdvertiserFigures> => {
  const lastDay = dayOf(NEWEST_SCAN_AT);
  const firstDay = dayOf(new Date(Date.parse(lastDay) - (NEW_ADVERTISER_DAYS - 1) * DAY_MS).toISOString());
  const listed = world.brands.flatMap((brand) => {
    const own = Object.values(ads).filter((ad) => ad.brand === brand);
    const [startedOn = ''] = own.map((ad) => ad.started_on ?? dayOf(ad.first_seen)).toSorted();
    const firstLook = looks.get(brand)?.[0]?.scan.at ?? NEWEST_SCAN_AT;
    const isNew = dayOf(firstLook) < firstDay && startedOn >= firstDay && startedOn <= lastDay;
    const active = own.filter(({ status }) => status !== 'inactive').length;
    return isNew && categoriesOf(brand, world).length > 0 ? [{ brand, started_on: startedOn, active }] : [];
  });
  const ranked = listed.toSorted((a, b) => b.active - a.active || (a.brand < b.brand ? 1 : -1));
  return Object.fromEntries(
    ranked.map(({ brand, ...figures }, index) => [brand, { ...figures, rank: index + 1 }]),
  );
};
