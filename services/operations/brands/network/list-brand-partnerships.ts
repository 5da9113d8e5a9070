import { Partnership } from '#contracts/resources/corpus/social-page.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { partnershipExample } from '#operations/social-pages/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const listBrandPartnerships = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/partnerships',
  operationId: 'listBrandPartnerships',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List the creators a brand ran branded content with',
  description:
    'Creators with branded content beside the brand in the last 365 days as of `meta.as_of`, in both directions, merged per creator, most ads first. What ads show; no contract is known of.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: Partnership,
    example: [partnershipExample],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'partnerships'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => listPartnerships(db, id));
    return listReply(found, brand.as_of);
  },
});
