import type { DayFigures, Scan, World } from '../world.ts';
import { linksAt } from './attribution.ts';
import type { Library } from './library.ts';
import { dayOf } from './observations.ts';

/** True for complete scans of the brand or of a page linked to it. Decision: judged with the links observed by then. */
export const isOfBrand = (brand: string, scan: Scan, world: World): boolean =>
  scan.complete &&
  (scan.brand === brand ||
    linksAt(world, scan.at).some((link) => link.brand === brand && scan.pages.includes(link.page)));

/**
 * Rule 9: the complete scans cover all pages linked to the brand. Decision: judged at each complete scan of the day
 * that was made for the brand or names its page, with the links observed by then and the pages of all these scans.
 */
export const isReliable = (brand: string, scans: readonly Scan[], world: World): boolean => {
  const covered = scans.filter(({ complete }) => complete).flatMap(({ pages }) => pages);
  return scans
    .filter((scan) => isOfBrand(brand, scan, world))
    .some((scan) =>
      linksAt(world, scan.at).every((link) => link.brand !== brand || covered.includes(link.page)),
    );
};

export const dailyFigures = ({ world, scans, looks }: Library): Record<string, DayFigures> => {
  const days: Record<string, DayFigures> = {};
  for (const [brand, ofBrand] of looks)
    for (const { scan, ads } of ofBrand) {
      const day = dayOf(scan.at);
      const key = `${brand} ${day}`;
      days[key] = {
        active: ads.filter(({ state }) => state.status !== 'inactive').length,
        new:
          (days[key]?.new ?? 0) +
          ads.filter(({ before, state }) => !before && state.novelty === 'news').length,
        retired: (days[key]?.retired ?? 0) + ads.filter(({ state }) => state.retired).length,
        reliable: isReliable(
          brand,
          scans.filter(({ at }) => dayOf(at) === day),
          world,
        ),
      };
    }
  return days;
};
