import { z } from 'zod';
import { WeeklyVelocity } from '#contracts/resources/corpus/brand.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, wholeNumber } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';

const WEEKS_MAX = 52;
const WEEKS_DEFAULT = 12;

export const getBrandVelocity = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/velocity',
  operationId: 'getBrandVelocity',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read weekly velocity',
  description:
    'One item for every ISO week that has an observed day, oldest first. `new_ads` and `retired_ads` sum reliable days only. Shade a week with `reliable_days` 0 as unreliable.',
  params: brandParams,
  query: z.strictObject({
    weeks: wholeNumber(
      z.int().min(1).max(WEEKS_MAX).default(WEEKS_DEFAULT).meta({ description: 'How many weeks back.' }),
    ),
  }),
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: WeeklyVelocity,
    example: [{ week_start: '2026-11-16', active_ads: 126, new_ads: 17, retired_ads: 9, reliable_days: 5 }],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'velocity'],
  handler: async ({ params, query }, { db }) => {
    const { brand, found } = await withBrand(db, params.brandId, (id) => readVelocity(db, id, query.weeks));
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
