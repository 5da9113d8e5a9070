import { SystemFreshness } from '#contracts/resources/corpus/system.ts';
import { readSystemFreshness } from '#projections/brands/read.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { noQuery } from './endpoint/parameters.ts';
import { corpusRead } from './endpoint/kinds.ts';

/** For a corpus without scans: the specification requires a date-time. */
const BEFORE_ANY_SCAN = '1970-01-01T00:00:00.000Z';

export const getSystemFreshness = endpoint({
  ...corpusRead,
  path: '/v1/system/freshness',
  operationId: 'getSystemFreshness',
  tag: 'System',
  scope: 'system:read',
  summary: 'Read the freshness of the corpus',
  description:
    'Counts of ads and brands, the time of the last scan, and how many brands of each category were scanned lately.',
  query: noQuery,
  reply: {
    status: 200,
    shape: 'record',
    data: SystemFreshness,
    example: {
      ads_total: 2_154_321,
      brands_total: 8_412,
      brands_with_usable_data: 8_100,
      last_scrape_at: '2026-11-20T06:00:00.000Z',
      data_version: '2026-11-20',
      coverage: [{ category_slug: 'apparel', brands: 1_204, brands_scraped_7d: 1_190 }],
    },
  },
  reads: ['brands'],
  handler: async (_call, { db }) => {
    const freshness = await readSystemFreshness(db);
    const lastScrapeAt = freshness.last_scrape_at;
    const data = JSON.stringify({ ...freshness, last_scrape_at: lastScrapeAt ?? BEFORE_ANY_SCAN });
    return { data, asOf: lastScrapeAt };
  },
});
