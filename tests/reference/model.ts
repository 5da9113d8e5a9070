import type { AdFigures, BrandFigures, Figures, World } from './world.ts';
import { adFigures } from './model/ads.ts';
import { changeFigures } from './model/changes.ts';
import { dailyFigures } from './model/days.ts';
import { freshnessFigures } from './model/freshness.ts';
import { libraryOf } from './model/library.ts';
import { categoryFigures } from './model/lists/categories.ts';
import { newAdvertiserFigures } from './model/lists/new-advertisers.ts';
import { riserFigures } from './model/lists/risers.ts';
import { profileFigures } from './model/profiles.ts';
import { radarFigures } from './model/radar.ts';
import { signalFigures } from './model/signals.ts';
import { weeklyFigures } from './model/weeks.ts';

/**
 * Follows the rules of services/domain/README.md in the plainest way, without events and tables, and knows nothing of
 * the service. Comments that begin with "Decision" settle a point that the rules leave open.
 */

const brandFigures = (world: World, ads: Readonly<Record<string, AdFigures>>): Figures['brands'] => {
  const brands: Record<string, BrandFigures> = {};
  for (const brand of world.brands) {
    const statuses = Object.values(ads).flatMap((ad) => (ad.brand === brand ? [ad.status] : []));
    const count = (status: AdFigures['status']): number => statuses.filter((one) => one === status).length;
    const counts = { active: count('active'), missing: count('missing'), inactive: count('inactive') };
    brands[brand] = { ...counts, total: statuses.length };
  }
  return brands;
};

export const expectedFigures = (world: World): Figures => {
  const library = libraryOf(world);
  const ads = adFigures(library);
  const days = dailyFigures(library);
  const radar = radarFigures(library);
  const brands = brandFigures(world, ads);
  const profiles = profileFigures(library, { ads, days });
  return {
    ads,
    brands,
    days,
    changes: changeFigures(library),
    freshness: freshnessFigures(library),
    weeks: weeklyFigures(days),
    profiles,
    radar,
    signals: signalFigures(world, radar),
    categories: categoryFigures(world, { brands, profiles }),
    newAdvertisers: newAdvertiserFigures(library, ads),
    risers: riserFigures(library, days),
  };
};
