import { z } from 'zod';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import { NewAdvertiser } from '#contracts/resources/corpus/ranking.ts';
import { listNewAdvertisers as readNewAdvertisers } from '#projections/new-advertisers/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery, wholeNumber } from '../endpoint/parameters.ts';
import { rankingReply } from './ranking-reply.ts';

const DAYS_MAX = 90;
const DAYS_DEFAULT = 30;

export const listNewAdvertisers = endpoint({
  method: 'GET',
  path: '/v1/rankings/new-advertisers',
  operationId: 'listNewAdvertisers',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List brands that started to advertise',
  description:
    'Brands known to the service before the window whose first attributed ad started in the last `days` days, most active first. Rewritten nightly, at `meta.as_of`.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    days: wholeNumber(
      z.int().min(1).max(DAYS_MAX).default(DAYS_DEFAULT).meta({ description: 'Length of the window.' }),
    ),
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
    country: Country.optional().meta({ description: "The brand's country." }),
  }),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: NewAdvertiser,
    example: [{ rank: 1, brand: brandSummary, first_ad_started_on: '2026-11-02', active_ads: 126 }],
  },
  errors: [],
  corpus: true,
  reads: ['new-advertisers', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { days, category_id: categoryId, country } = query;
    return rankingReply(db, await readNewAdvertisers(db, omitUndefined({ days, categoryId, country }), page));
  },
});
