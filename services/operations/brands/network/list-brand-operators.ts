import { OperatorOfBrand } from '#contracts/resources/corpus/operator.ts';
import { listOperatorsOfBrand } from '#projections/operators/read.ts';
import { operatorOfBrandExample } from '#operations/social-pages/examples.ts';
import { brandList } from '../brand-list.ts';

export const listBrandOperators = brandList({
  path: '/v1/brands/{brandId}/operators',
  operationId: 'listBrandOperators',
  scope: 'operators:read',
  summary: 'List the operators of a brand',
  description:
    'Companies observed with the domain of the brand, those with most domains and pages first, each with its other public brands.',
  reply: { data: OperatorOfBrand, example: [operatorOfBrandExample] },
  reads: ['brands', 'operators'],
  list: listOperatorsOfBrand,
});
