import type { Figures, ProfileFigures } from '../world.ts';
import type { Library } from './library.ts';
import { DAY_MS, dayOf, shows } from './observations.ts';

const sumOf = (
  count: 'new' | 'retired',
  brand: string,
  lastDay: string,
  length: number,
  days: Figures['days'],
): number => {
  const firstDay = dayOf(new Date(Date.parse(lastDay) - (length - 1) * DAY_MS).toISOString());
  return Object.entries(days)
    .filter(([key]) => key >= `${brand} ${firstDay}` && key <= `${brand} ${lastDay}`)
    .reduce((sum, [, day]) => sum + day[count], 0);
};

/** Rule 12: the average age of ended ads, to one decimal. Decision: ads of unknown age are left out. */
const averageAge = (ads: readonly Figures['ads'][string][]): number | null => {
  const ages = ads
    .filter(({ status }) => status === 'inactive')
    .flatMap(({ days_active }) => days_active ?? []);
  const sum = ages.reduce((total, age) => total + age, 0);
  return ages.length === 0 ? null : Math.round((sum * 10) / ages.length) / 10;
};

const countriesOf = (ads: readonly Figures['ads'][string][]): ProfileFigures['countries'] => {
  const named = ads.filter(({ status }) => status !== 'inactive').flatMap(({ countries }) => countries);
  return [...Map.groupBy(named, (country) => country)]
    .map(([country, all]) => ({ country, ads: all.length }))
    .toSorted((a, b) => b.ads - a.ads || (a.country < b.country ? -1 : 1));
};

/** Decision: counts of the last 7 and 30 days are of all days, reliable or not, as the brand was known on each of them. */
export const profileFigures = (
  { world, looks }: Library,
  { ads, days }: Pick<Figures, 'ads' | 'days'>,
): Record<string, ProfileFigures> =>
  Object.fromEntries(
    world.brands.map((brand) => {
      const ofBrand = looks.get(brand) ?? [];
      const lastLook = ofBrand.at(-1)?.scan.at ?? null;
      const lastDay = lastLook === null ? '' : dayOf(lastLook);
      const sum = (count: 'new' | 'retired', length: number): number =>
        lastDay === '' ? 0 : sumOf(count, brand, lastDay, length, days);
      const own = Object.values(ads).filter((ad) => ad.brand === brand);
      // Decision: a scan that shows an ad as ended has seen it too. The brand of the ad is that as known at the scan.
      const lastSeen = ofBrand.findLast((look) => look.ads.some(({ ad }) => shows(look.scan, ad)));
      const figures: ProfileFigures = {
        as_of: { brands: lastLook, days: lastLook, weeks: lastLook },
        new_7d: sum('new', 7),
        new_30d: sum('new', 30),
        retired_7d: sum('retired', 7),
        retired_30d: sum('retired', 30),
        avg_lifespan: averageAge(own),
        last_ad_seen_on: lastSeen ? dayOf(lastSeen.scan.at) : null,
        countries: countriesOf(own),
      };
      return [brand, figures];
    }),
  );
