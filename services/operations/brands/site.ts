import { z } from 'zod';
import { BrandSplitTests } from '#contracts/resources/corpus/split-test.ts';
import { readBrandSplitTests } from '#projections/queries/brand-split-tests.ts';
import { Store } from '#contracts/resources/corpus/store.ts';
import { readStore } from '#projections/store/read.ts';
import { TechStackItem } from '#contracts/resources/corpus/tool.ts';
import { readTechStack } from '#projections/tools/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { noQuery, wholeNumber } from '../endpoint/parameters.ts';
import { withBrand } from './find-brand.ts';
import { techStackItem } from '../tools.ts';
import { listReply } from '../endpoint/reply.ts';
import { brandRead } from '../endpoint/kinds.ts';

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
  ...brandRead,
  path: '/v1/brands/{brandId}/split-tests',
  operationId: 'getBrandSplitTests',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the split tests',
  description:
    "Testing tools installed on the brand's site and every test read on them: type, state and its basis, arms with configured allocations, the pages acted on with the brand's active ads there, and what tests of the category vary. It never says which arm did better, and no price or shipping amount is served. Null means not read, never none.",
  query: noQuery,
  reply: { status: 200, shape: 'record', data: BrandSplitTests, example: splitTestsExample },
  reads: ['brands', 'split-tests', 'pages'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readBrandSplitTests(db, id));
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});

const PRODUCTS_DEFAULT = 250;
const PRODUCTS_MAX = 1_000;

const storeExample = {
  status: 'collected',
  latest_scan: {
    scanned_at: '2026-11-20T04:20:00.000Z',
    complete: true,
    pages: 1,
    products_seen: 1,
    currency: 'USD',
    collector: 'storefront/1',
  },
  last_complete_scan_at: '2026-11-20T04:20:00.000Z',
  currency: 'USD',
  products_total: 1,
  missing_products: 0,
  products: [
    {
      product_id: '7301948201123',
      handle: 'cove-boot',
      title: 'Cove boot',
      url: 'https://harbor-and-pine.com/products/cove-boot',
      product_type: 'Boots',
      vendor: 'Harbor & Pine',
      image_url: 'https://harbor-and-pine.com/cdn/cove-boot.jpg',
      published_at: '2026-08-30T09:00:00.000Z',
      status: 'listed',
      missing_since: null,
      first_seen_at: '2026-09-01T04:20:00.000Z',
      changed_at: '2026-11-20T04:20:00.000Z',
      available: true,
      variants: [
        {
          variant_id: '42011938203747',
          title: 'Sand / 40',
          sku: 'CB-40-S',
          price: '119.00',
          compare_at_price: '149.00',
          available: true,
        },
      ],
    },
  ],
  next_product_id: null,
  weeks: [
    {
      week_start: '2026-11-16',
      scans: 5,
      complete_scans: 5,
      products: 1,
      listed: 0,
      returned: 0,
      delisted: 0,
      changed: 1,
      cheaper: 1,
      dearer: 0,
      mixed: 0,
    },
  ],
  changes: [
    {
      type: 'changed',
      observed_at: '2026-11-20T04:20:00.000Z',
      product_id: '7301948201123',
      title: 'Cove boot',
      price_move: 'cheaper',
      details: [],
      variants_listed: 0,
      variants_delisted: 0,
      variants_changed: 1,
      variants: [
        {
          variant_id: '42011938203747',
          price: { from: '149.00', to: '119.00' },
          compare_at_price: { from: null, to: '149.00' },
          available: null,
        },
      ],
    },
  ],
};

export const getBrandStore = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/store',
  operationId: 'getBrandStore',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the public storefront',
  description:
    "The brand's public storefront catalogue as last collected: what the latest scan covered, products with variants, listed prices and the published available flag, and twelve weeks of observed changes. A shop that no scan has shown is `not_collected`, never an empty catalogue. A product is delisted when two complete scans at least 20 hours apart miss it; an empty answer is a failed fetch.",
  query: z.strictObject({
    limit: wholeNumber(
      z
        .int()
        .min(1)
        .max(PRODUCTS_MAX)
        .default(PRODUCTS_DEFAULT)
        .meta({ description: 'Products in the answer.' }),
    ),
    after: z
      .string()
      .regex(/^[1-9][0-9]{0,19}$/, 'an id of 1 to 20 digits')
      .optional()
      .meta({ description: '`next_product_id` of the previous reply.' }),
  }),
  reply: { status: 200, shape: 'record', data: Store, example: storeExample, list: 'products' },
  reads: ['brands', 'store'],
  handler: async ({ params, query }, { db }) => {
    const { limit, after = null } = query;
    const { brand, found } = await withBrand(db, params.brandId, (id) => readStore(db, id, { limit, after }));
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});

export const getBrandTechStack = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/tech-stack',
  operationId: 'getBrandTechStack',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the tech stack',
  description:
    "Tools detected on the brand's site, by tool category, then name. Detection can be wrong, and a site that was never scanned shows none. A tool is gone when two complete scans at least 20 hours apart miss it.",
  query: noQuery,
  reply: { status: 200, shape: 'whole', data: TechStackItem, example: [techStackItem] },
  reads: ['brands', 'tools'],
  handler: async ({ params }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readTechStack(db, id));
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
