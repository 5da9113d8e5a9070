import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Figure, FigureName } from '#contracts/values/figures.ts';

/** Read models that `readFigure` needs. */
export const READ_MODELS_OF_FIGURES = ['brands', 'daily-activity'] as const;

const sumOfDays = (column: 'new_ads' | 'retired_ads'): string => `
  select (select coalesce(sum(${column}), 0)::int from daily_activity.day d
    where d.brand_id = b.brand_id and reliable and date between $2::date and $3::date) as value
  from brands.brand b where brand_id = $1 and detail is not null`;

const STATEMENTS: Readonly<Record<FigureName, string>> = {
  active_ads: 'select active_ads::int as value from brands.brand where brand_id = $1 and detail is not null',
  total_ads: 'select total_ads::int as value from brands.brand where brand_id = $1 and detail is not null',
  new_ads: sumOfDays('new_ads'),
  retired_ads: sumOfDays('retired_ads'),
};

/** `null` for a brand that nothing was recorded about. */
export const readFigure = async (
  db: ReadDatabase,
  brandId: string,
  { name, from, to }: Figure,
): Promise<number | null> => {
  const values = from === null ? [brandId] : [brandId, from, to];
  const [found] = await db.query<{ value: number }>({ sql: STATEMENTS[name], values });
  return found?.value ?? null;
};
