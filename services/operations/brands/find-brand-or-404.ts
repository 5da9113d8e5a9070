import { LRUCache } from 'lru-cache';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { findBrand } from '#projections/brands/read.ts';
import { brandRefOf } from '../endpoint/parameters.ts';

/** Slugs follow from the domain and never change, so entries do not expire. */
const CACHED_SLUGS_MAX = 50_000;
const idBySlug = new LRUCache<string, string>({ max: CACHED_SLUGS_MAX });

export type ExistingBrand = NonNullable<Awaited<ReturnType<typeof findBrand>>>;

/** A constant, because a stack trace per refusal costs more than the lookup. */
export const BRAND_UNKNOWN = new Refusal('not_found', 'Brand not found. It may still run ads.');

/** Accepts a uuid or a slug. Throws `BRAND_UNKNOWN`. */
export const requireBrand = async (db: ReadDatabase, text: string): Promise<ExistingBrand> => {
  const found = await findBrand(db, brandRefOf(text));
  if (!found) throw BRAND_UNKNOWN;
  return found;
};

/** Runs both queries concurrently when the id is known. Throws `BRAND_UNKNOWN`. */
export const withBrand = async <T>(
  db: ReadDatabase,
  text: string,
  read: (brandId: string) => Promise<T>,
): Promise<{ readonly brand: ExistingBrand; readonly found: T }> => {
  const ref = brandRefOf(text);
  const id = 'id' in ref ? ref.id : idBySlug.get(ref.slug);
  if (id !== undefined) {
    const [brand, found] = await Promise.all([requireBrand(db, text), read(id)]);
    return { brand, found };
  }
  const brand = await requireBrand(db, text);
  idBySlug.set(text, brand.brand_id);
  return { brand, found: await read(brand.brand_id) };
};
