import { OperatorOfBrand } from '#contracts/resources/corpus/operator.ts';
import { listOperatorsOfBrand } from '#projections/operators/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { operatorOfBrandExample } from '#operations/social-pages/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const listBrandOperators = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/operators',
  operationId: 'listBrandOperators',
  tag: 'Brands',
  scope: 'operators:read',
  summary: 'List the operators of a brand',
  description:
    'Companies observed with the domain of the brand, those with most domains and pages first, each with its other public brands.',
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: OperatorOfBrand,
    example: [operatorOfBrandExample],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'operators'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => listOperatorsOfBrand(db, id));
    return listReply(found, brand.as_of);
  },
});
