import { Brand } from '#contracts/resources/corpus/brand.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { BRAND_ID, brandSummary, formats } from '../endpoint/examples.ts';
import { brandRefOf, brandParams, noQuery } from '../endpoint/parameters.ts';
import { findBrandWithFreshness } from '#projections/queries/brand-with-freshness.ts';
import { BRAND_UNKNOWN } from './find-brand-or-404.ts';

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
  method: 'GET',
  path: '/v1/brands/{brandId}',
  operationId: 'getBrand',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read one brand',
  description:
    'One brand by uuid or slug. `meta.freshness` says when it was last scanned and when it is next due.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'brand', data: Brand, example: brandExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'freshness'],
  handler: async ({ params }, { db }) => {
    const brand = await findBrandWithFreshness(db, brandRefOf(params.brandId));
    if (!brand) throw BRAND_UNKNOWN;
    return { data: brand.detail, asOf: brand.as_of, freshness: brand.freshness };
  },
});
