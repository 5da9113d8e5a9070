import { windowStart } from '#contracts/values/windows.ts';
import { z } from 'zod';
import { AdFormat, Country, Uuid } from '#contracts/values/primitives.ts';
import { AdStatus, AdSummary } from '#contracts/resources/corpus/ads/ad.ts';
import { searchAds as readAds } from '#projections/ads/read.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { readAsOfEmptyList } from '../endpoint/page-as-of.ts';
import { pageReply } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { adSummary } from '../endpoint/examples.ts';
import { HEAVY_WAIT_MS, WAITING_PER_WORKSPACE_MAX } from '../dependencies/heavy-reads.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery, searchText } from '../endpoint/parameters.ts';

/** Search window without a brand, up to the newest scan (specification, part "Limits"). */
const SEARCH_WINDOW_DAYS = 90;
const COPY_SEARCH_MAX_LENGTH = 200;

export const searchAds = endpoint({
  method: 'GET',
  path: '/v1/ads',
  operationId: 'searchAds',
  tag: 'Ads',
  scope: 'ads:read',
  summary: 'Search ads',
  description: `Ads by copy, format, status and country, newest start first. Without \`brand_id\` only ads started in the last 90 days are searched. An ad without a known start is sorted by its first sighting. In a process, at most two searches of a workspace run at once (one on a machine of two processors), and ${WAITING_PER_WORKSPACE_MAX} more wait for up to ${HEAVY_WAIT_MS / 1_000} s; beyond that 503 with \`retry-after\`.`,
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    q: searchText(COPY_SEARCH_MAX_LENGTH)
      .optional()
      .meta({ description: 'Words of the copy; all of them must occur.' }),
    format: AdFormat.optional().meta({ description: 'Creative format.' }),
    status: AdStatus.optional().meta({
      description: '`missing`: not seen by the last scan, but not confirmed inactive.',
    }),
    country: Country.optional().meta({ description: 'A country whose scans showed the ad.' }),
    brand_id: Uuid.optional().meta({ description: 'Ads attributed to this brand, whenever started.' }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: AdSummary, example: [adSummary] },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['ads', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { q, format, status, country, brand_id: brandId } = query;
    const asOf = await readAsOfEmptyList(
      db,
      brandId,
      (id) => readScannedAt(db, 'ads', id),
      () => readNewestScan(db, 'ads'),
    );
    const startedSince =
      brandId === undefined && asOf !== null ? windowStart(asOf, SEARCH_WINDOW_DAYS) : undefined;
    const found = await readAds(
      db,
      omitUndefined({ q, format, status, country, brandId, startedSince }),
      page,
    );
    return pageReply(found, asOf);
  },
});
