import { z } from 'zod';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import { Riser } from '#contracts/resources/corpus/ranking.ts';
import { listRisers as readRisers } from '#projections/rankings/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';
import { rankingReply } from './ranking-reply.ts';

export const listRisers = endpoint({
  method: 'GET',
  path: '/v1/rankings/risers',
  operationId: 'listRisers',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List the brands that grew most',
  description:
    'Brands whose active ads grew most between a reliable day in the last week and one 7 to 28 days earlier.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
    country: Country.optional().meta({ description: "The brand's country." }),
  }),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: Riser,
    example: [
      {
        rank: 1,
        brand: brandSummary,
        active_ads: 126,
        previous_active_ads: 60,
        growth: 66,
        growth_rate: 1.1,
        day: '2026-11-20',
        previous_day: '2026-11-06',
      },
    ],
  },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['rankings', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const found = await readRisers(
      db,
      omitUndefined({ categoryId: query.category_id, country: query.country }),
      page,
    );
    return rankingReply(db, found);
  },
});
