import { z } from 'zod';
import { CategorySitemapEntry } from '#contracts/resources/corpus/category.ts';
import { listCategorySitemap as readSitemap, readNewestOfCategories } from '#projections/categories/read.ts';
import { latestOf } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';
import { categoryExample } from './examples.ts';

export const listCategorySitemap = endpoint({
  method: 'GET',
  path: '/v1/categories/sitemap',
  operationId: 'listCategorySitemap',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'List category pages',
  description: 'Addresses of the categories of every level that hold a public brand.',
  params: noParams,
  query: z.strictObject(pageQuery),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'paged',
    data: CategorySitemapEntry,
    example: [{ slug: categoryExample.slug, url: categoryExample.url, updated_at: categoryExample.as_of }],
  },
  errors: [],
  corpus: true,
  reads: ['categories'],
  handler: async ({ page }, { db }) => {
    return pageAsOf(
      () => readSitemap(db, page),
      (found) => latestOf(found.asOf),
      () => readNewestOfCategories(db),
    );
  },
});
