import { z } from 'zod';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import { RankedBrand } from '#contracts/resources/corpus/traffic.ts';
import { listBrandsOfCountry } from '#projections/queries/brands-by-visits.ts';
import { pageByVisits } from './page-by-visits.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';

export const listRanking = endpoint({
  method: 'GET',
  path: '/v1/rankings',
  operationId: 'listRanking',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List the most visited brands of a country',
  description:
    'Public brands with this top traffic country, by monthly visits, most first. Visits and countries are estimates of a traffic provider; brands without estimates are left out.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    country: Country.meta({ description: 'The country that most visits come from.', example: 'US' }),
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
  }),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: RankedBrand,
    example: [
      {
        rank: 1,
        brand: brandSummary,
        monthly_visits: 482_000,
        estimated_for: '2026-10-01',
        country: 'US',
        country_share: 0.71,
        global_ranking: 91_204,
        category_ranking: 398,
        provider_category: 'Lifestyle/Fashion',
      },
    ],
  },
  errors: [],
  corpus: true,
  reads: ['traffic', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { country, category_id: categoryId } = query;
    const filter = omitUndefined({ country, categoryId });
    return pageByVisits(db, () => listBrandsOfCountry(db, filter, page));
  },
});
