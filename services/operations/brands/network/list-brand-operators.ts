import { OperatorOfBrand } from '#contracts/resources/corpus/operator.ts';
import { listOperatorsOfBrand } from '#projections/operators/read.ts';
import { brandList } from '../brand-list.ts';
import { operatorFields, otherBrandReference } from '#operations/social-pages/examples.ts';

const operatorOfBrandExample = {
  ...operatorFields,
  bases: ['site_imprint'],
  other_brands: [otherBrandReference],
};

export const listBrandOperators = brandList({
  path: '/v1/brands/{brandId}/operators',
  operationId: 'listBrandOperators',
  scope: 'operators:read',
  summary: 'List the operators of a brand',
  description:
    'Companies observed with the domain of the brand, most domains and pages first, each with its other public brands.',
  reply: { data: OperatorOfBrand, example: [operatorOfBrandExample] },
  reads: ['brands', 'operators'],
  list: listOperatorsOfBrand,
});
