import { OperatorOfBrand } from '#contracts/resources/corpus/operator.ts';
import { listOperatorsOfBrand } from '#projections/operators/read.ts';
import { listAnswer } from '../../answers.ts';
import { endpoint } from '../../endpoint.ts';
import { BRAND_ID } from '../../examples.ts';
import { brandParams, noQuery } from '../../parameters.ts';
import { operatorOfBrandExample } from '../social-pages/examples.ts';
import { withBrand } from './known-brand.ts';

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
    return listAnswer(found, brand.as_of);
  },
});
