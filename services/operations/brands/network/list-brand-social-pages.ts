import { SocialPage } from '#contracts/resources/corpus/social-page.ts';
import { listSocialPages } from '#projections/social-pages/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { socialPageExample } from '#operations/social-pages/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const listBrandSocialPages = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/social-pages',
  operationId: 'listBrandSocialPages',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List the social pages of a brand',
  description:
    'Pages linked to the brand, most active ads first. Links that were held back are left out; a claim that cannot be served has the role `UNVERIFIED`. Links are observed associations, never ownership.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: SocialPage,
    example: [socialPageExample],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'social-pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => listSocialPages(db, id));
    return listReply(found, brand.as_of);
  },
});
