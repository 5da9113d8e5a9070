import { FormatBreakdown } from '#contracts/resources/corpus/brand.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID, brandSummary, formats } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { requireBrand } from '../find-brand-or-404.ts';

export const getBrandBreakdown = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/breakdown',
  operationId: 'getBrandBreakdown',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the format breakdown',
  description: 'Active ads by creative format.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'record',
    data: FormatBreakdown,
    example: { formats, as_of: brandSummary.as_of },
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands'],
  handler: async ({ params }, { db }) => {
    const brand = await requireBrand(db, params.brandId);
    return { data: brand.breakdown, asOf: brand.as_of };
  },
});
