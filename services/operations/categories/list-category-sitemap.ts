import { z } from 'zod';
import { CategorySitemapEntry } from '#contracts/resources/corpus/category.ts';
import { listCategorySitemap as readSitemap } from '#projections/categories/read.ts';
import { latestOf, pageReply } from '../endpoint/reply.ts';
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
    const found = await readSitemap(db, page);
    return pageReply(found, latestOf(found.asOf));
  },
});
