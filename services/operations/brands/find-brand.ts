import { LRUCache } from 'lru-cache';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { domainOfOldSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import { findBrand } from '#projections/brands/read.ts';
import { readBrandSlug } from '#projections/queries/brands.ts';
import type { ItemsAsOf } from '#projections/shared-tables/applied-scan.ts';
import { brandParams, brandRefOf, noQuery } from '../endpoint/parameters.ts';
import { type Contract, type Endpoint, endpoint } from '../endpoint/define-endpoint.ts';
import { BRAND_ID } from '../endpoint/examples.ts';
import { listReply } from '../endpoint/reply.ts';

/** The slug of a brand never changes, so entries do not expire. The brand that is read proves them. */
const CACHED_SLUGS_MAX = 50_000;
const idBySlug = new LRUCache<string, string>({ max: CACHED_SLUGS_MAX });

export type ExistingBrand = NonNullable<Awaited<ReturnType<typeof findBrand>>>;

/** A constant, because a stack trace per refusal costs more than the lookup. */
export const BRAND_UNKNOWN = new Refusal('not_found', 'Brand not found. It may still run ads.');

type Named = {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
};

/** The caller used an older slug of the brand. */
export class SlugReplaced extends Error {
  readonly slug: string;

  constructor(slug: string) {
    super(`The brand has the slug ${slug} now.`);
    this.name = 'SlugReplaced';
    this.slug = slug;
  }

  /** The input with the present slug. */
  applyTo<Input extends Named>(input: Input): Input {
    return input.params?.['brandId'] === undefined
      ? { ...input, query: { ...input.query, brand_id: this.slug } }
      : { ...input, params: { ...input.params, brandId: this.slug } };
  }
}

/** Throws `SlugReplaced` for an older slug, otherwise `BRAND_UNKNOWN`. */
export const refuseUnknown = async (db: ReadDatabase, text: string): Promise<never> => {
  const ref = brandRefOf(text);
  const slug = 'id' in ref ? null : await readBrandSlug(db, brandIdOf(domainOfOldSlug(ref.slug)));
  throw slug === null ? BRAND_UNKNOWN : new SlugReplaced(slug);
};

/** Accepts a uuid or a slug. Throws as `refuseUnknown`. */
export const requireBrand = async (db: ReadDatabase, text: string): Promise<ExistingBrand> =>
  (await findBrand(db, brandRefOf(text))) ?? (await refuseUnknown(db, text));

/** Runs both queries concurrently when the id is known. Throws as `refuseUnknown`. */
export const withBrand = async <T>(
  db: ReadDatabase,
  text: string,
  read: (brandId: string) => Promise<T>,
): Promise<{ readonly brand: ExistingBrand; readonly found: T }> => {
  const ref = brandRefOf(text);
  const id = 'id' in ref ? ref.id : idBySlug.get(ref.slug);
  if (id !== undefined) {
    const [brand, found] = await Promise.all([requireBrand(db, text), read(id)]);
    if (brand.brand_id === id) return { brand, found };
  }
  const brand = await requireBrand(db, text);
  idBySlug.set(text, brand.brand_id);
  return { brand, found: await read(brand.brand_id) };
};

export const brandList = ({
  reply,
  list,
  ...contract
}: Pick<Contract, 'path' | 'operationId' | 'scope' | 'summary' | 'description' | 'reads'> & {
  readonly reply: Pick<Contract['reply'], 'data' | 'example'>;
  /** Returns JSON texts, and the time at which they hold. */
  readonly list: (db: ReadDatabase, brandId: string) => Promise<ItemsAsOf>;
}): Endpoint =>
  endpoint({
    ...contract,
    method: 'GET',
    tag: 'Brands',
    params: brandParams,
    query: noQuery,
    body: null,
    paramsExample: { brandId: BRAND_ID },
    reply: { ...reply, status: 200, shape: 'whole' },
    errors: ['not_found'],
    corpus: true,
    handler: async ({ params }, { db }) => {
      const { brand, found } = await withBrand(db, params.brandId, (id) => list(db, id));
      return listReply(found.items, found.asOf ?? brand.profiled_at);
    },
  });
