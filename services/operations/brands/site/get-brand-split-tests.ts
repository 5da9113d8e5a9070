import { BrandSplitTests } from '#contracts/resources/corpus/split-test.ts';
import { readBrandSplitTests } from '#projections/queries/brand-split-tests.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID, brandSummary } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';
import { techStackItem } from '#operations/tools/examples.ts';

const splitTestsExample = {
  status: 'collected',
  scanned_at: '2026-11-19T05:10:00.000Z',
  tools: [{ ...techStackItem, read: true, read_at: '2026-11-19T05:10:00.000Z', tests: 1 }],
  tests: [
    {
      tool: techStackItem,
      id: '8c1d3e5f-7a9b-5c0d-8e2f-4a6b8c0d2e14',
      name: 'Cove boot hero',
      type: 'content',
      state: 'running',
      state_basis: 'configuration',
      arms: [
        { name: 'Control', allocation: 0.5 },
        { name: 'Film above the fold', allocation: 0.5 },
      ],
      pages: [{ url: 'https://harbor-and-pine.com/products/cove-boot', match: 'exact', active_ads: 14 }],
      first_seen_at: '2026-11-05T05:10:00.000Z',
      changed_at: null,
      missing_since: null,
    },
  ],
  category_profile: {
    category: brandSummary.category,
    brands_read: 61,
    types: [{ type: 'content', brands: 38, tests: 90, running_tests: 41 }],
  },
};

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
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});
