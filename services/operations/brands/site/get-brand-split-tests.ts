import { BrandSplitTests } from '#contracts/resources/corpus/split-test.ts';
import { readBrandSplitTests } from '#projections/queries/brand-split-tests.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { splitTestsExample } from '#operations/tools/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

export const getBrandSplitTests = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/split-tests',
  operationId: 'getBrandSplitTests',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the split tests',
  description:
    "Testing tools installed on the brand's site and every test read on them: type, state and its basis, arms with configured allocations, the pages acted on with the brand's active ads there, and what tests of the category vary. It never says which arm did better, and no price or shipping amount is served. Null means not read, never none.",
  params: brandParams,
  query: noQuery,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: BrandSplitTests, example: splitTestsExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'split-tests', 'pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readBrandSplitTests(db, id));
    return { data: found.data, asOf: found.asOf ?? brand.as_of };
  },
});
