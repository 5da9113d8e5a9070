import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { BrandNetwork } from '#contracts/resources/corpus/network.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { readNetworkOfBrand, readNetworkOfCategory } from '#projections/social-pages/read-network.ts';
import { findCategory } from '#projections/categories/read.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { noParams, slugOrUuid } from '#operations/endpoint/parameters.ts';
import { CATEGORY_UNKNOWN } from '#operations/categories/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';
import { BRAND_ID, brandReference } from '#operations/endpoint/examples.ts';
import { OTHER_BRAND_ID, otherBrandReference } from '#operations/social-pages/examples.ts';

const EMPTY_NETWORK = JSON.stringify({
  brands: [],
  links: [],
  brands_with_link: 0,
  brands_without_link: 0,
} satisfies z.infer<typeof BrandNetwork>);

const Query = z
  .strictObject({
    brand_id: slugOrUuid.optional().meta({ description: 'Uuid or slug of a brand.' }),
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
  })
  .refine(({ brand_id, category_id }) => (brand_id === undefined) !== (category_id === undefined), {
    path: ['brand_id'],
    message: 'Send either `brand_id` or `category_id`.',
  });

const networkExample = {
  brands: [
    { brand: brandReference, linked_brands: 1 },
    { brand: otherBrandReference, linked_brands: 1 },
  ],
  links: [{ brand_ids: [BRAND_ID, OTHER_BRAND_ID], shared_pages: 1, confidence: 0.5 }],
  brands_with_link: 2,
  brands_without_link: 0,
};

export const getBrandNetwork = endpoint({
  method: 'GET',
  path: '/v1/brand-network',
  operationId: 'getBrandNetwork',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read a network of brands',
  description:
    'Brands that share pages, by ads or by links: those around one brand (itself and its direct neighbours), or those of one category. Give either `brand_id` or `category_id`. Sharing a page is an observed association, not ownership.',
  params: noParams,
  query: Query,
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'record',
    data: BrandNetwork,
    example: networkExample,
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'social-pages', 'categories'],
  handler: async ({ query }, { db }) => {
    if (query.brand_id !== undefined) {
      const { brand, found } = await withBrand(db, query.brand_id, (id) =>
        Promise.all([readScannedAt(db, 'social_pages', id), readNetworkOfBrand(db, id)]),
      );
      const [asOf, data] = found;
      return { data, asOf: asOf ?? brand.profiled_at };
    }
    const [scannedAt, network] = await Promise.all([
      readNewestScan(db, 'social_pages'),
      readNetworkOfCategory(db, query.category_id ?? ''),
    ]);
    if (network === null && !(await findCategory(db, query.category_id ?? ''))) throw CATEGORY_UNKNOWN;
    return { data: network ?? EMPTY_NETWORK, asOf: scannedAt };
  },
});
