import { z } from 'zod';
import { Store } from '#contracts/resources/corpus/store.ts';
import { readStore } from '#projections/store/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, wholeNumber } from '#operations/endpoint/parameters.ts';
import { storeExample } from '#operations/tools/examples.ts';
import { withBrand } from '../find-brand-or-404.ts';

/** Products per reply. The default equals the number of products on one page of a published shop catalogue. */
const PRODUCTS_DEFAULT = 250;
const PRODUCTS_MAX = 1_000;

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
      .meta({ description: '`next_product_id` of the answer before.' }),
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
    return { data: found.data, asOf: found.asOf ?? brand.as_of };
  },
});
