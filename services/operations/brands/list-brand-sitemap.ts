import { z } from 'zod';
import { Uuid } from '#contracts/values/primitives.ts';
import { BrandSitemapEntry } from '#contracts/resources/corpus/brand.ts';
import { listBrandSitemap as readSitemap, readNewestObservation } from '#projections/brands/read.ts';
import { latestIn } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandSummary } from '../endpoint/examples.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';

export const listBrandSitemap = endpoint({
  method: 'GET',
  path: '/v1/brands/sitemap',
  operationId: 'listBrandSitemap',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'List indexable brand pages',
  description: 'Addresses of the brand pages that search engines may index.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    category_id: Uuid.optional().meta({ description: 'A category of any level.' }),
  }),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: BrandSitemapEntry,
    example: [{ slug: brandSummary.slug, url: brandSummary.url, updated_at: brandSummary.as_of }],
  },
  errors: [],
  corpus: true,
  heavy: true,
  reads: ['brands'],
  handler: async ({ query, page }, { db }) => {
    return pageAsOf(
      () => readSitemap(db, omitUndefined({ categoryId: query.category_id }), page),
      (found) => latestIn(found.items, 'updated_at'),
      () => readNewestObservation(db),
    );
  },
});
