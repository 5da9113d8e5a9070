import { type Figures, NEWEST_SCAN_AT, type RiserFigures, type World } from '../../world.ts';
import { dailyFigures } from '../days.ts';
import { type Library, libraryOf } from '../library.ts';
import { coversPair, DAY_MS, dayOf } from '../observations.ts';
import { categoriesOf } from './categories.ts';

/** Active ads grew from a reliable day 7 to 28 days earlier to one in the last week (GET /v1/rankings/risers). */

const WEEK_DAYS = 7;
const EARLIER_DAYS_MAX = 28;

const daysBefore = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(day) - days * DAY_MS).toISOString());

/** Decision: the latest reliable day, and the last one that is early enough. */
const daysOf = (brand: string, days: Figures['days']) => {
  const reliable = Object.entries(days)
    .filter(([key, day]) => key.startsWith(`${brand} `) && day.reliable)
    .map(([key]) => key.slice(brand.length + 1))
    .toSorted();
  const day = reliable.at(-1) ?? '';
  const previous = reliable.findLast(
    (one) => one <= daysBefore(day, WEEK_DAYS) && one >= daysBefore(day, EARLIER_DAYS_MAX),
  );
  return previous === undefined ? null : { day, previous };
};

/**
 * True when complete scans of both days covered each page in each country of the world and no ad moved (rules 3, 9).
 * For other brands the rules do not say which ads count.
 */
const isPlain = (brand: string, { world, scans, looks }: Library, days: Figures['days']): boolean => {
  const pair = daysOf(brand, days);
  const ads = [...looks.values()].flat().flatMap((look) => look.ads);
  const ofBrand = ads.filter((one) => one.brand === brand || one.brandBefore === brand);
  const shown = scans.flatMap((scan) => scan.ads);
  const pages = [...new Set(shown.map(({ page }) => page))];
  const countries = new Set([
    ...scans.flatMap((scan) => scan.countries),
    ...shown.flatMap((ad) => ad.countries ?? []),
  ]);
  const covers = (day: string): boolean =>
    pages.every((page) =>
      [...countries].every((country) =>
        scans.some((scan) => dayOf(scan.at) === day && page !== null && coversPair(scan, page, country)),
      ),
    );
  return (
    pair !== null &&
    categoriesOf(brand, world).length > 0 &&
    ofBrand.every((one) => one.brand === brand && (one.brandBefore ?? brand) === brand) &&
    covers(pair.day) &&
    covers(pair.previous)
  );
};

const plainBrands = (library: Library, days: Figures['days']): readonly string[] =>
  library.world.brands.filter((brand) => isPlain(brand, library, days));

export const comparedRisers = (world: World): readonly string[] => {
  const library = libraryOf(world);
  return plainBrands(library, dailyFigures(library));
};

export const riserFigures = (library: Library, days: Figures['days']): Record<string, RiserFigures> => {
  const weekBegins = daysBefore(dayOf(NEWEST_SCAN_AT), WEEK_DAYS - 1);
  return Object.fromEntries(
    plainBrands(library, days).flatMap((brand) => {
      const { day, previous } = daysOf(brand, days) ?? { day: '', previous: '' };
      const active = days[`${brand} ${day}`]?.active ?? 0;
      const before = days[`${brand} ${previous}`]?.active ?? 0;
      return active > before && day >= weekBegins
        ? [[brand, { day, previous_day: previous, active, previous: before }] as const]
        : [];
    }),
  );
};
