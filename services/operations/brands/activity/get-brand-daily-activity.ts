import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { z } from 'zod';
import { DailyActivity } from '#contracts/resources/corpus/brand.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import { dateParameter, brandParams } from '#operations/endpoint/parameters.ts';
import { withBrand } from '../find-brand-or-404.ts';

/** A request without dates gets the 366 days up to the last scan. */
const DAYS_MAX = 366;

const shift = (date: string, days: number): string => utcDateOfMs(Date.parse(date) + days * DAY_MS);

const Query = z
  .strictObject({
    from: dateParameter(`First day. ${DAYS_MAX} days before \`to\` when absent.`),
    to: dateParameter('Last day. Open when absent.'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    message: '`from` must not be after `to`',
  })
  .refine(({ from, to }) => from === undefined || to === undefined || shift(from, DAYS_MAX) > to, {
    path: ['to'],
    message: `at most ${DAYS_MAX} days from \`from\` to \`to\``,
  });

export const getBrandDailyActivity = endpoint({
  method: 'GET',
  path: '/v1/brands/{brandId}/daily-activity',
  operationId: 'getBrandDailyActivity',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read daily activity',
  description:
    'Active, new and retired ads of each observed day, oldest first. Days never observed are absent, not zero; unreliable days carry `reliable: false`.',
  params: brandParams,
  query: Query,
  body: null,
  paramsExample: { brandId: BRAND_ID },
  reply: {
    status: 200,
    shape: 'whole',
    data: DailyActivity,
    example: [{ date: '2026-11-20', active_ads: 126, new_ads: 3, retired_ads: 1, reliable: true }],
  },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'daily-activity'],
  handler: async ({ params, query }, { db }) => {
    const to = query.to ?? (query.from ? shift(query.from, DAYS_MAX - 1) : undefined);
    const from = query.from ?? (query.to ? shift(query.to, 1 - DAYS_MAX) : undefined);
    const { brand, found } = await withBrand(db, params.brandId, (id) =>
      readDailyActivity(db, id, omitUndefined({ from, to })),
    );
    return listReply(found.items, found.asOf ?? brand.profiled_at);
  },
});
