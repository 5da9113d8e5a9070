import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { LandingPageSummary, PageTypeName } from '#contracts/resources/corpus/landing-page.ts';
import { listPages as readPages } from '#projections/pages/read.ts';
import { latestIn } from '../endpoint/reply.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { pageAsOf, readAsOfEmptyList } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery, searchText } from '../endpoint/parameters.ts';
import { landingPageSummary } from './examples.ts';

/** Shorter parts occur in nearly every URL, and no index supports them. */
const URL_PART_MIN_LENGTH = 3;
const URL_PART_MAX_LENGTH = 200;

export const listPages = endpoint({
  method: 'GET',
  path: '/v1/pages',
  operationId: 'listPages',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'List landing pages',
  description:
    'Live landing pages of public US ecommerce brands on hosts they own, newest first. With `brand_id` or `category_id`: every live page of that brand or category, of any country and on any host. A page is live until a visit finds it gone.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    page_type: PageTypeName.optional().meta({ description: 'What the page was classified as.' }),
    brand_id: Uuid.optional().meta({ description: 'Pages of this brand, and pages its ads lead to.' }),
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
    url: searchText(URL_PART_MAX_LENGTH)
      .min(URL_PART_MIN_LENGTH)
      .optional()
      .meta({ description: 'Part of the address, in upper or lower case.' }),
    sort: z
      .enum(['newest', 'popular'])
      .default('newest')
      .meta({ description: '`popular`: pages with the most ads first.' }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: LandingPageSummary, example: [landingPageSummary] },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['pages', 'brands'],
  handler: async ({ query, page }, { db }) => {
    const { page_type: pageType, brand_id: brandId, category_id: categoryId, url: urlPart, sort } = query;
    return pageAsOf(
      () => readPages(db, omitUndefined({ pageType, brandId, categoryId, urlPart, sort }), page),
      (found) => latestIn(found.items, 'as_of'),
      () =>
        readAsOfEmptyList(
          db,
          brandId,
          (id) => readScannedAt(db, 'pages', id),
          () => readNewestScan(db, 'pages'),
        ),
    );
  },
});
