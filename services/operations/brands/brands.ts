import { z } from 'zod';
import { Brand, BrandSitemapEntry, BrandSummary } from '#contracts/resources/corpus/brand.ts';
import { findBrandWithFreshness, readSimilarSites } from '#projections/queries/brands.ts';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import {
  listBrands as readBrands,
  readNewestObservation,
  listBrandSitemap as readSitemap,
} from '#projections/brands/read.ts';
import { SimilarSite } from '#contracts/resources/corpus/traffic.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandReference, brandSummary, formats } from '../endpoint/examples.ts';
import { pastQuery, brandRefOf, pageQuery, searchText, wholeNumber } from '../endpoint/parameters.ts';
import { refuseUnknown, withBrand } from './find-brand.ts';
import { latestIn, listReply, pageAsOf } from '../endpoint/reply.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { brandRead, corpusRead } from '../endpoint/kinds.ts';

const brandExample = {
  ...brandSummary,
  description: 'Boots and bags for the coast.',
  inactive_ads: 778,
  new_ads_30d: 58,
  retired_ads_7d: 9,
  retired_ads_30d: 44,
  avg_ad_lifespan_days: 31.4,
  last_ad_seen_at: '2026-11-20',
  formats,
  top_countries: [
    { country: 'US', ads: 118 },
    { country: 'CA', ads: 21 },
  ],
};

export const getBrand = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}',
  operationId: 'getBrand',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read one brand',
  description:
    'One brand by uuid or slug. `meta.freshness` says when it was last scanned and when it is next due.',
  query: z.strictObject(pastQuery),
  reply: { status: 200, shape: 'brand', data: Brand, example: brandExample },
  past: 'brand',
  reads: ['brands', 'freshness'],
  handler: async ({ params }, { db }) => {
    const brand =
      (await findBrandWithFreshness(db, brandRefOf(params.brandId))) ??
      (await refuseUnknown(db, params.brandId));
    return { data: brand.detail, asOf: brand.as_of, freshness: brand.freshness };
  },
});

export const listBrandSitemap = endpoint({
  ...corpusRead,
  path: '/v1/brands/sitemap',
  operationId: 'listBrandSitemap',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List indexable brand pages',
  description: 'Addresses of the brand pages that search engines may index.',
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'Only brands of this category, of any level.' }),
  }),
  reply: {
    status: 200,
    shape: 'paged',
    data: BrandSitemapEntry,
    example: [{ slug: brandSummary.slug, url: brandSummary.url, updated_at: brandSummary.as_of }],
  },
  heavy: true,
  reads: ['brands'],
  handler: async ({ query, page }, { db }) => {
    return pageAsOf(
      () => readSitemap(db, omitUndefined({ categoryId: query.category_id }), page),
      (found) => latestIn(found.items, 'updated_at'),
      () => readNewestObservation(db),
    );
  },
});

const NAME_SEARCH_MAX_LENGTH = 100;

export const listBrands = endpoint({
  ...corpusRead,
  path: '/v1/brands',
  operationId: 'listBrands',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List brands',
  description: 'Public brands. A brand that is absent from the service is not evidence that it runs no ads.',
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'Only brands of this category, of any level.' }),
    country: Country.optional().meta({
      description: 'Only brands based in this country, ISO 3166-1 alpha-2.',
    }),
    q: searchText(NAME_SEARCH_MAX_LENGTH)
      .optional()
      .meta({ description: 'Part of the name, in upper or lower case.' }),
    letter: z
      .string()
      .regex(/^[a-z]$/, 'one lower-case letter')
      .optional()
      .meta({ description: 'First letter of the name.' }),
    sort: z
      .enum(['active_ads', 'new_ads_7d', 'name'])
      .default('active_ads')
      .meta({ description: 'Most first; names from a to z.' }),
  }),
  reply: { status: 200, shape: 'paged', data: BrandSummary, example: [brandSummary] },
  heavy: true,
  reads: ['brands'],
  handler: async ({ query, page }, { db }) => {
    const { category_id: categoryId, country, q, letter, sort } = query;
    return pageAsOf(
      () => readBrands(db, omitUndefined({ categoryId, country, q, letter, sort }), page),
      (found) => latestIn(found.items, 'as_of'),
      () => readNewestObservation(db),
    );
  },
});

const SITES_MAX = 50;
const SITES_DEFAULT = 8;

export const listSimilarSites = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/similar',
  operationId: 'listSimilarSites',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List similar sites',
  description:
    'Sites with similar visitors, by affinity, as a traffic provider estimates. A site of a public brand shows that brand.',
  query: z.strictObject({
    limit: wholeNumber(
      z.int().min(1).max(SITES_MAX).default(SITES_DEFAULT).meta({ description: 'How many sites.' }),
    ),
  }),
  reply: {
    status: 200,
    shape: 'whole',
    data: SimilarSite,
    example: [
      {
        domain: brandSummary.domain,
        affinity: 0.82,
        provider_category: 'Lifestyle/Fashion',
        brand: brandReference,
        monthly_visits: 482_000,
        global_ranking: 91_204,
      },
    ],
  },
  reads: ['brands', 'traffic'],
  handler: async ({ params, query }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      readSimilarSites(db, id, query.limit),
    );
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
