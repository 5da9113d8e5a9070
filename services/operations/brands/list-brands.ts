import { z } from 'zod';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import { BrandSummary } from '#contracts/resources/corpus/brand.ts';
import { listBrands as readBrands, readNewestObservation } from '#projections/brands/read.ts';
import { latestIn } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery, searchText } from '../endpoint/parameters.ts';

const NAME_SEARCH_MAX_LENGTH = 100;

export const listBrands = endpoint({
  method: 'GET',
  path: '/v1/brands',
  operationId: 'listBrands',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List brands',
  description: 'Public brands. A brand that is absent from the service is not evidence that it runs no ads.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
    country: Country.optional().meta({ description: "The brand's country." }),
    q: searchText(NAME_SEARCH_MAX_LENGTH).optional().meta({ description: 'Search in names.' }),
    letter: z
      .string()
      .regex(/^[a-z]$/, 'one lower-case letter')
      .optional()
      .meta({ description: 'First letter of the name.' }),
    sort: z
      .enum(['active_ads', 'new_ads_7d', 'name'])
      .default('active_ads')
      .meta({ description: 'Most first; names from a to z.' }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: BrandSummary, example: [brandSummary] },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['brands'],
  handler: async ({ query, page }, { db }) => {
    const { category_id: categoryId, country, q, letter, sort } = query;
    return pageAsOf(
      () => readBrands(db, omitUndefined({ categoryId, country, q, letter, sort }), page),
      (found) => latestIn(found.items, 'as_of'),
      () => readNewestObservation(db),
    );
  },
});
