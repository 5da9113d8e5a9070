import DataLoader from 'dataloader';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { freshnessText } from '../sql/json-text.ts';

export type BrandWithFreshness = {
  readonly detail: string;
  readonly as_of: string;
  readonly freshness: string;
};

/** Replies are as of the older read model; one without a scan of the brand is as of its profile. */
const readBy = (column: 'slug' | 'brand_id'): string => `
  select b.${column} as ref, b.detail, ${isoTimeSql('least(b.as_of, coalesce(f.applied_at, b.profiled_at))')} as as_of, ${freshnessText("'census'")} as freshness
  from brands.brand b
  left join freshness.brand f using (brand_id)
  where b.${column} = any($1) and b.detail is not null`;

const TOGETHER_MAX = 100;

/** The most frequent read: requests of one iteration of the event loop share a statement, which halves its cost under load. */
const loaderBy = (sql: string): ((db: ReadDatabase) => DataLoader<string, BrandWithFreshness | null>) => {
  const loaders = new WeakMap<ReadDatabase, DataLoader<string, BrandWithFreshness | null>>();
  const load = (db: ReadDatabase) => async (refs: readonly string[]) => {
    const rows = await db.query<BrandWithFreshness & { readonly ref: string }>({ sql, values: [refs] });
    const found = new Map(rows.map((row) => [row.ref, row]));
    return refs.map((ref) => found.get(ref) ?? null);
  };
  return (db) => {
    let loader = loaders.get(db);
    if (!loader) {
      loader = new DataLoader(load(db), {
        cache: false,
        maxBatchSize: TOGETHER_MAX,
        batchScheduleFn: setImmediate,
      });
      loaders.set(db, loader);
    }
    return loader;
  };
};

const bySlug = loaderBy(readBy('slug'));
const byId = loaderBy(readBy('brand_id'));

export const findBrandWithFreshness = (
  db: ReadDatabase,
  ref: { readonly id: string } | { readonly slug: string },
): Promise<BrandWithFreshness | null> => ('id' in ref ? byId(db).load(ref.id) : bySlug(db).load(ref.slug));
