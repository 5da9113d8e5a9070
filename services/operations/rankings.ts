import { z } from 'zod';
import { arrayText, joinObjects, objectText } from '#contracts/values/json-text.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readBrandSummaries, readNewestObservation } from '#projections/brands/read.ts';
import { Country, Uuid } from '#contracts/values/primitives.ts';
import { NewAdvertiser, Riser } from '#contracts/resources/corpus/ranking.ts';
import { listNewAdvertisers as readNewAdvertisers } from '#projections/new-advertisers/read.ts';
import { listBrandsOfCountry } from '#projections/queries/brands.ts';
import type { DatedPage } from '#projections/sql/pages.ts';
import { readNewestEstimate } from '#projections/traffic/read.ts';
import { RankedBrand } from '#contracts/resources/corpus/traffic.ts';
import { listRisers as readRisers } from '#projections/rankings/read.ts';
import { type Reply, latestOf, oldestOf, pageAsOf } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { brandSummary } from './endpoint/examples.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { pageQuery, wholeNumber } from './endpoint/parameters.ts';
import { corpusRead } from './endpoint/kinds.ts';

type Ranked = {
  readonly rows: readonly ({ readonly brand_id: string; readonly rank: number } & object)[];
  readonly next: readonly (string | number)[] | null;
  readonly as_of: string | null;
};

/** Replaces brand ids by summaries, and omits brands without one. Holds as of the older of the two. */
export const rankingReply = async (db: ReadDatabase, { rows, next, as_of: asOf }: Ranked): Promise<Reply> => {
  const [brandsAsOf, summaries] = await Promise.all([
    readNewestObservation(db),
    readBrandSummaries(
      db,
      rows.map((row) => row.brand_id),
    ),
  ]);
  const items = rows.flatMap(({ brand_id, rank, ...figures }) => {
    const brand = summaries.get(brand_id);
    if (!brand) return [];
    const place = objectText({ rank: String(rank), brand: brand.summary });
    return [joinObjects(place, JSON.stringify(figures))];
  });
  return { data: arrayText(items), asOf: oldestOf([asOf, brandsAsOf]), count: items.length, next };
};

const DAYS_MAX = 90;
const DAYS_DEFAULT = 30;

export const listNewAdvertisers = endpoint({
  ...corpusRead,
  path: '/v1/rankings/new-advertisers',
  operationId: 'listNewAdvertisers',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List brands that started to advertise',
  description:
    'Brands known to the service before the window whose first attributed ad started in the last `days` days, most active first. Rewritten nightly, at `meta.as_of`.',
  query: z.strictObject({
    ...pageQuery,
    days: wholeNumber(
      z
        .int()
        .min(1)
        .max(DAYS_MAX)
        .default(DAYS_DEFAULT)
        .meta({ description: 'Length of the window in UTC days.' }),
    ),
    category_id: Uuid.optional().meta({ description: 'Only brands of this category, of any level.' }),
    country: Country.optional().meta({
      description: 'Only brands based in this country, ISO 3166-1 alpha-2.',
    }),
  }),
  reply: {
    status: 200,
    shape: 'paged',
    data: NewAdvertiser,
    example: [{ rank: 1, brand: brandSummary, first_ad_started_on: '2026-11-02', active_ads: 126 }],
  },
  reads: ['new-advertisers', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { days, category_id: categoryId, country } = query;
    return rankingReply(db, await readNewAdvertisers(db, omitUndefined({ days, categoryId, country }), page));
  },
});

/** Joins estimates and brand records; holds as of the older of the two. */
export const pageByVisits = async (
  db: ReadDatabase,
  read: () => Promise<DatedPage<string>>,
): Promise<Reply> => {
  const [brandsAsOf, reply] = await Promise.all([
    readNewestObservation(db),
    pageAsOf(
      read,
      ({ asOf }) => latestOf(asOf),
      () => readNewestEstimate(db),
    ),
  ]);
  return { ...reply, asOf: oldestOf([reply.asOf, brandsAsOf]) };
};

export const listRanking = endpoint({
  ...corpusRead,
  path: '/v1/rankings',
  operationId: 'listRanking',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List the most visited brands of a country',
  description:
    'Public brands with this top traffic country, by monthly visits, most first. Visits and countries are estimates of a traffic provider; brands without estimates are left out.',
  query: z.strictObject({
    ...pageQuery,
    country: Country.meta({ description: 'The country that most visits come from.', example: 'US' }),
    category_id: Uuid.optional().meta({ description: 'Only brands of this category, of any level.' }),
  }),
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
  reads: ['traffic', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { country, category_id: categoryId } = query;
    const filter = omitUndefined({ country, categoryId });
    return pageByVisits(db, () => listBrandsOfCountry(db, filter, page));
  },
});

export const listRisers = endpoint({
  ...corpusRead,
  path: '/v1/rankings/risers',
  operationId: 'listRisers',
  tag: 'Rankings',
  scope: 'rankings:read',
  summary: 'List the brands that grew most',
  description:
    'Brands whose active ads grew most between a reliable day in the last week and one 7 to 28 days earlier.',
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'Only brands of this category, of any level.' }),
    country: Country.optional().meta({
      description: 'Only brands based in this country, ISO 3166-1 alpha-2.',
    }),
  }),
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
