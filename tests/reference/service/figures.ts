import type { AdFigures, Figures, World } from '../world.ts';
import { comparedRisers } from '../model/lists/risers.ts';
import { type FigureSources, readAd } from './ad-figures.ts';
import {
  type BrandReplies,
  countsOf,
  daysOf,
  freshnessOf,
  profileOf,
  readBrand,
  signalsOf,
  weeksOf,
} from './brand-figures.ts';
import { readCategories, readNewAdvertisers, readRisers } from './list-figures.ts';
import type { Placement } from './placement.ts';
import { readRadar } from './radar-figures.ts';

export const readFigures = async (
  sources: FigureSources,
  world: World,
  placement: Placement,
): Promise<Figures> => {
  const { db, standings } = sources;
  const shown = world.observations.flatMap((observation) =>
    observation.kind === 'scan' ? observation.ads.map(({ ad }) => ad) : [],
  );
  const ads: Record<string, AdFigures> = {};
  const ofBrands = new Map<string, BrandReplies>();
  const [radar, categories, newAdvertisers, risers] = await Promise.all([
    readRadar(db, world, placement),
    readCategories(db, world, placement),
    readNewAdvertisers(db, world, placement),
    readRisers(db, world, placement, comparedRisers(world)),
    ...[...new Set(shown)].map(async (ad) => {
      const figures = await readAd(sources, ad, placement);
      if (figures) ads[ad] = figures;
    }),
    ...world.brands.map(async (brand) => {
      ofBrands.set(brand, await readBrand(db, brand, placement));
    }),
  ]);
  const inOrder = world.brands.flatMap((brand) => {
    const of = ofBrands.get(brand);
    return of ? [[brand, of] as const] : [];
  });
  return {
    ads,
    brands: Object.fromEntries(
      inOrder.map(([brand, { detail }]) => [brand, countsOf(brand, detail, Object.values(ads))]),
    ),
    days: Object.assign(
      {},
      ...inOrder.map(([brand, { days }]) => daysOf(brand, days.items)),
    ) as Figures['days'],
    changes: Object.fromEntries(
      world.brands.flatMap((brand) =>
        Object.entries(standings.changesOf(placement.brandIdOf(brand))).map(([day, changes]) => [
          `${brand} ${day}`,
          changes,
        ]),
      ),
    ),
    freshness: Object.fromEntries(
      inOrder.flatMap(([brand, { freshness }]) => (freshness ? [[brand, freshnessOf(freshness)]] : [])),
    ),
    weeks: Object.assign(
      {},
      ...inOrder.map(([brand, { weeks }]) => weeksOf(brand, weeks.items)),
    ) as Figures['weeks'],
    profiles: Object.fromEntries(inOrder.map(([brand, of]) => [brand, profileOf(of)])),
    radar,
    signals: Object.assign(
      {},
      ...inOrder.map(([brand, { signals }]) => signalsOf(brand, signals)),
    ) as Figures['signals'],
    categories,
    newAdvertisers,
    risers,
  };
};
