import { LRUCache } from 'lru-cache';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { findBrand } from '#projections/brands/read.ts';
import { brandRefOf } from '../endpoint/parameters.ts';

/** A slug follows from the domain and never changes, so what it stands for may be remembered. */
const SLUGS_REMEMBERED_MAX = 50_000;
const idOfSlug = new LRUCache<string, string>({ max: SLUGS_REMEMBERED_MAX });

export type KnownBrand = NonNullable<Awaited<ReturnType<typeof findBrand>>>;

/** Made once: a refusal says nothing of where it was thrown, and collecting that costs more than the look-up. */
export const BRAND_UNKNOWN = new Refusal(
  'not_found',
  'There is no such brand in this service. It may still run ads.',
);

/** The brand of a path parameter, uuid or slug. Refuses when there is none. */
export const requireBrand = async (db: ReadDatabase, text: string): Promise<KnownBrand> => {
  const found = await findBrand(db, brandRefOf(text));
  if (!found) throw BRAND_UNKNOWN;
  return found;
};

/** A read about a brand, sent together with the look-up of the brand wherever its id is known already. */
export const withBrand = async <T>(
  db: ReadDatabase,
  text: string,
  read: (brandId: string) => Promise<T>,
): Promise<{ readonly brand: KnownBrand; readonly found: T }> => {
  const ref = brandRefOf(text);
  const id = 'id' in ref ? ref.id : idOfSlug.get(ref.slug);
  if (id !== undefined) {
    const [brand, found] = await Promise.all([requireBrand(db, text), read(id)]);
    return { brand, found };
  }
  const brand = await requireBrand(db, text);
  idOfSlug.set(text, brand.brand_id);
  return { brand, found: await read(brand.brand_id) };
};
