import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Figure } from '#contracts/values/figures.ts';
import { findBrandWithFreshness } from './brands.ts';

/** Read models that `readFigure` needs. */
export const READ_MODELS_OF_FIGURES = ['brands', 'freshness', 'daily-activity'] as const;

const SUM_OF_DAYS = `
  select coalesce(sum(case $2 when 'new_ads' then new_ads else retired_ads end), 0)::int as value
  from daily_activity.day where brand_id = $1 and reliable and date between $3::date and $4::date`;

/** `null` for a brand that nothing was recorded about. */
export const readFigure = async (
  db: ReadDatabase,
  brandId: string,
  { name, from, to }: Figure,
): Promise<number | null> => {
  const brand = await findBrandWithFreshness(db, { id: brandId });
  if (brand === null) return null;
  if (name === 'active_ads' || name === 'total_ads')
    return (JSON.parse(brand.detail) as Readonly<Record<typeof name, number>>)[name];
  const [sum] = await db.query<{ value: number }>({ sql: SUM_OF_DAYS, values: [brandId, name, from, to] });
  return sum?.value ?? 0;
};
