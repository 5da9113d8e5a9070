import { z } from 'zod';
import { Store } from '#contracts/resources/corpus/store.ts';
import { readStore } from '#projections/store/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, wholeNumber } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';

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
  method: 'GET',
  path: '/v1/brands/{brandId}/store',
  operationId: 'getBrandStore',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the public storefront',
  description:
    "The brand's public storefront catalogue as last collected: what the latest scan covered, products with variants, listed prices and the published available flag, and twelve weeks of observed changes. A shop that no scan has shown is `not_collected`, never an empty catalogue. A product is delisted when two complete scans at least 20 hours apart miss it; an empty answer is a failed fetch.",
  params: brandParams,
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
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: { status: 200, shape: 'record', data: Store, example: storeExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'store'],
  handler: async ({ params, query }, { db }) => {
    const { limit, after = null } = query;
    const { brand, found } = await withBrand(db, params.brandId, (id) => readStore(db, id, { limit, after }));
    return { data: found.data, asOf: found.asOf ?? brand.profiled_at };
  },
});
