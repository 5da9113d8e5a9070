import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { freshnessText } from '../sql/json-text.ts';

/**
 * The most frequent read: one statement with two index lookups takes half the time of two statements. Replies are as of
 * the older read model; one without a scan of the brand is as of its profile.
 */
const readBy = (column: 'slug' | 'brand_id'): string => `
  select b.detail, ${isoTimeSql('least(b.as_of, coalesce(f.applied_at, b.profiled_at))')} as as_of, ${freshnessText("'census'")} as freshness
  from brands.brand b
  left join freshness.brand f using (brand_id)
  where b.${column} = $1 and b.detail is not null`;

const BY_SLUG = readBy('slug');
const BY_ID = readBy('brand_id');

export type BrandWithFreshness = {
  readonly detail: string;
  readonly as_of: string;
  readonly freshness: string;
};

export const findBrandWithFreshness = async (
  db: ReadDatabase,
  ref: { readonly id: string } | { readonly slug: string },
): Promise<BrandWithFreshness | null> => {
  const query = 'id' in ref ? { sql: BY_ID, values: [ref.id] } : { sql: BY_SLUG, values: [ref.slug] };
  return (await db.query<BrandWithFreshness>(query))[0] ?? null;
};
