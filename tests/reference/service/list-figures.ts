import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { findCategory } from '#projections/categories/read.ts';
import { listRisers } from '#projections/rankings/read.ts';
import { listNewAdvertisers } from '#projections/new-advertisers/read.ts';
import {
  type CategoryFigures,
  NEW_ADVERTISER_DAYS,
  type NewAdvertiserFigures,
  type RiserFigures,
  type World,
} from '../world.ts';
import type { Placement } from './placement.ts';
import { instant, parsed } from './reply-values.ts';

const ALL = { limit: 100, after: null };

const categoriesOf = ({ observations }: World): readonly (readonly string[])[] => {
  const named = observations.flatMap((one) =>
    one.kind === 'profile' ? one.category.map((_, level) => one.category.slice(0, level + 1)) : [],
  );
  return [...new Map(named.map((names) => [names.join(' > '), names])).values()];
};

type CategoryReply = {
  readonly children: number;
  readonly totals: { readonly brands: number; readonly active_ads: number; readonly total_ads: number };
  readonly as_of: string | null;
};

export const readCategories = async (
  db: ReadDatabase,
  world: World,
  { categoryIdOf }: Placement,
): Promise<Record<string, CategoryFigures>> => {
  const found = await Promise.all(
    categoriesOf(world).map(async (names) => {
      const category = await findCategory(db, categoryIdOf(names));
      if (!category) return [];
      const { children, totals, as_of } = parsed(category.item) as CategoryReply;
      const { brands, active_ads: active, total_ads: total } = totals;
      const asOf = as_of === null ? null : instant(as_of);
      return [[names.join(' > '), { brands, active, total, children, as_of: asOf }] as const];
    }),
  );
  return Object.fromEntries(found.flat());
};

export const readNewAdvertisers = async (
  db: ReadDatabase,
  world: World,
  { categoryIdOf, domainOf }: Placement,
): Promise<Record<string, NewAdvertiserFigures>> => {
  const [top] = categoriesOf(world);
  if (!top) return {};
  const filter = { days: NEW_ADVERTISER_DAYS, categoryId: categoryIdOf(top) };
  const { rows } = await listNewAdvertisers(db, filter, ALL);
  return Object.fromEntries(
    rows.map(({ brand_id, first_ad_started_on, active_ads, rank }) => [
      domainOf(brand_id),
      { started_on: first_ad_started_on, active: active_ads, rank },
    ]),
  );
};

/** `compared`: the brands whose growth the model computes. */
export const readRisers = async (
  db: ReadDatabase,
  world: World,
  { categoryIdOf, domainOf }: Placement,
  compared: readonly string[],
): Promise<Record<string, RiserFigures>> => {
  const [top] = categoriesOf(world);
  if (!top || compared.length === 0) return {};
  const { rows } = await listRisers(db, { categoryId: categoryIdOf(top) }, ALL);
  return Object.fromEntries(
    rows
      .map((row) => [domainOf(row.brand_id), row] as const)
      .filter(([brand]) => compared.includes(brand))
      .map(([brand, { day, previous_day, active_ads: active, previous_active_ads: previous }]) => [
        brand,
        { day, previous_day, active, previous },
      ]),
  );
};
