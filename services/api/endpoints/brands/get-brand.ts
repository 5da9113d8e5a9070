import { Brand } from '#contracts/resources/brand.ts';
import { readFreshness } from '#projections/freshness/read.ts';
import { endpoint } from '../../endpoint.ts';
import { BRAND_ID, brandExample } from '../../examples.ts';
import { brandParams, noQuery } from '../../parameters.ts';
import { withBrand } from './known-brand.ts';
import { neverScanned } from './never-scanned.ts';

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
    const { brand, found } = await withBrand(db, params.brandId, (id) => readFreshness(db, id));
    return {
      data: brand.detail,
      asOf: brand.as_of,
      freshness: JSON.stringify(found ?? neverScanned('census')),
    };
  },
});
