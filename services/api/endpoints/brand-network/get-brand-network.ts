import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Uuid } from '#contracts/primitives.ts';
import { BrandNetwork } from '#contracts/resources/network.ts';
import {
  readNetworkOfBrand,
  readNetworkOfCategory,
  readScannedAt,
} from '#projections/social-pages/read-network.ts';
import { endpoint } from '../../endpoint.ts';
import { noParams, slugOrUuid } from '../../parameters.ts';
import { networkExample } from '../social-pages/examples.ts';
import { withBrand } from '../brands/known-brand.ts';

const CATEGORY_UNKNOWN = new Refusal('not_found', 'There is no public brand in such a category.');

const Query = z
  .strictObject({
    brand_id: slugOrUuid.optional().meta({ description: 'Uuid or slug of a brand.' }),
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
  })
  .refine(({ brand_id, category_id }) => (brand_id === undefined) !== (category_id === undefined), {
    path: ['brand_id'],
    message: 'give either brand_id or category_id',
  });

export const getBrandNetwork = endpoint({
  method: 'GET',
  path: '/v1/brand-network',
  operationId: 'getBrandNetwork',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read a network of brands',
  description:
    'Brands that share pages, by ads or by links: those around one brand (itself and its direct neighbours), or those of one category. Give either `brand_id` or `category_id`. Sharing a page is an observed association: who owns whom is not known.',
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
  reads: ['brands', 'social-pages'],
  handler: async ({ query }, { db }) => {
    if (query.brand_id !== undefined) {
      const { brand, found } = await withBrand(db, query.brand_id, (id) => readNetworkOfBrand(db, id));
      return { data: found, asOf: brand.as_of };
    }
    const [network, scannedAt] = await Promise.all([
      readNetworkOfCategory(db, query.category_id ?? ''),
      readScannedAt(db),
    ]);
    if (network === null) throw CATEGORY_UNKNOWN;
    return { data: network, asOf: scannedAt };
  },
});
