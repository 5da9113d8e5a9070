import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { LandingPage, LandingPageSummary, PageTypeName } from '#contracts/resources/corpus/landing-page.ts';
import { findPages, listPages as readPages } from '#projections/pages/read.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { brandReference } from './endpoint/examples.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { commaSeparatedUuids, noQuery, pageQuery, searchText } from './endpoint/parameters.ts';
import { latestIn, latestOf, listReply, pageAsOf, readAsOfEmptyList } from './endpoint/reply.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { corpusRead } from './endpoint/kinds.ts';

export const PAGE_ID = '5d0f7c1e-2a84-5b39-8e6d-1c7a9f3b2e40';

export const landingPageSummary = {
  id: PAGE_ID,
  page_url: 'https://harbor-and-pine.com/products/cove-boot',
  host: 'harbor-and-pine.com',
  title: 'Cove boot – Harbor & Pine',
  page_type: 'product',
  page_type_confidence: 0.94,
  live: true,
  active_ads: 12,
  total_ads: 31,
  first_seen_at: '2026-09-14T06:00:00.000Z',
  as_of: '2026-11-19T06:00:00.000Z',
  brand: brandReference,
  url: `https://ads.example.com/v1/pages/${PAGE_ID}`,
};

export const landingPage = {
  ...landingPageSummary,
  brands: [{ brand: brandReference, active_ads: 12, total_ads: 31 }],
  description: 'A waterproof boot for the coast.',
  language: 'en-US',
  canonical_url: 'https://harbor-and-pine.com/products/cove-boot',
  http_status: 200,
  headings: ['Cove boot', 'Made for wet days'],
  cta_texts: ['Add to bag'],
  scraped_at: '2026-11-12T08:30:00.000Z',
  classified_at: '2026-11-12T08:31:00.000Z',
};

const PAGE_UNKNOWN = new Refusal('not_found', 'Landing page not found among those of public brands.');

export const getPage = endpoint({
  method: 'GET',
  path: '/v1/pages/{pageId}',
  operationId: 'getPage',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'Read one landing page',
  description:
    'One landing page with its scraped and classified fields, and the brands whose ads lead to it.',
  params: z.strictObject({ pageId: Uuid.meta({ description: 'Id of a landing page.' }) }),
  query: noQuery,
  body: null,
  paramsExample: { pageId: PAGE_ID },
  reply: { status: 200, shape: 'record', data: LandingPage, example: landingPage },
  errors: ['not_found'],
  corpus: true,
  reads: ['pages'],
  handler: async ({ params }, { db }) => {
    const [found] = await findPages(db, [params.pageId]);
    if (!found) throw PAGE_UNKNOWN;
    return { data: found.json, asOf: found.as_of };
  },
});

/** Specification, part "Limits": page details. */
const IDS_MAX = 100;

export const listPageDetails = endpoint({
  ...corpusRead,
  path: '/v1/page-details',
  operationId: 'listPageDetails',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'Read several landing pages',
  description:
    'Up to 100 landing pages by id, in the order of their ids. Unknown ids, and ids of pages without a public brand, are left out.',
  query: z.strictObject({
    ids: commaSeparatedUuids(IDS_MAX).meta({ description: 'Ids of landing pages, separated by commas.' }),
  }),
  reply: { status: 200, shape: 'whole', data: LandingPage, example: [landingPage] },
  reads: ['pages'],
  handler: async ({ query }, { db }) => {
    const [newest, found] = await Promise.all([readNewestScan(db, 'pages'), findPages(db, query.ids)]);
    return listReply(
      found.map(({ json }) => json),
      latestOf(found.map(({ as_of }) => as_of)) ?? newest,
    );
  },
});

/** Shorter parts occur in nearly every URL, and no index supports them. */
const URL_PART_MIN_LENGTH = 3;
const URL_PART_MAX_LENGTH = 200;

export const listPages = endpoint({
  ...corpusRead,
  path: '/v1/pages',
  operationId: 'listPages',
  tag: 'Pages',
  scope: 'pages:read',
  summary: 'List landing pages',
  description:
    'Live landing pages of public US ecommerce brands on hosts they own, newest first. With `brand_id` or `category_id`: every live page of that brand or category, of any country and on any host. A page is live until a visit finds it gone.',
  query: z.strictObject({
    ...pageQuery,
    page_type: PageTypeName.optional().meta({ description: 'What the page was classified as.' }),
    brand_id: Uuid.optional().meta({ description: 'Pages of this brand, and pages its ads lead to.' }),
    category_id: Uuid.optional().meta({ description: 'Pages of brands of this category, of any level.' }),
    url: searchText(URL_PART_MAX_LENGTH)
      .min(URL_PART_MIN_LENGTH)
      .optional()
      .meta({ description: 'Part of the address, in upper or lower case.' }),
    sort: z
      .enum(['newest', 'popular'])
      .default('newest')
      .meta({ description: '`popular`: pages with the most ads first.' }),
  }),
  reply: { status: 200, shape: 'paged', data: LandingPageSummary, example: [landingPageSummary] },
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
