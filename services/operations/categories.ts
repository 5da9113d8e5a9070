import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Slug, Uuid } from '#contracts/values/primitives.ts';
import { objectText } from '#contracts/values/json-text.ts';
import { Category, CategorySitemapEntry, CategoryStats } from '#contracts/resources/corpus/category.ts';
import { readCategoryStats } from '#projections/queries/brands.ts';
import {
  findCategory,
  findCategorySums,
  listCategories as readCategories,
  readNewestOfCategories,
  listCategorySitemap as readSitemap,
} from '#projections/categories/read.ts';
import { readNewestScan } from '#projections/shared-tables/applied-scan.ts';
import { brandSummary } from './endpoint/examples.ts';
import { latestOf, oldestOf, pageAsOf } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { noQuery, pageQuery } from './endpoint/parameters.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import { corpusRead } from './endpoint/kinds.ts';

/** Derived from the path `Apparel`, so it is equal in every installation. */
export const CATEGORY_ID = '2555396a-6ae5-5c43-b6ee-79a8e134e0ec';

export const categoryExample = {
  id: CATEGORY_ID,
  slug: 'apparel',
  name: 'Apparel',
  url: `https://ads.example.com/v1/categories/${CATEGORY_ID}`,
  level: 1,
  parent: null,
  description: null,
  children: 9,
  totals: {
    brands: 1_204,
    active_ads: 88_310,
    total_ads: 641_022,
    brands_with_traffic: 1_117,
    monthly_visits: 214_300_000,
  },
  as_of: brandSummary.as_of,
};

export const categoryParams = z.strictObject({
  categoryId: Uuid.meta({ description: 'Id of a category of any level.' }),
});

export const CATEGORY_UNKNOWN = new Refusal('not_found', 'Category not found.');

const categoryStatsExample = {
  category: brandSummary.category,
  brands: 1_204,
  landing_urls: 18_730,
  brands_with_traffic: 1_117,
  monthly_visits: 214_300_000,
  top_page_types: [
    { page_type: 'product', landing_urls: 9_412 },
    { page_type: 'collection', landing_urls: 4_207 },
  ],
  top_tools: [
    {
      tool: {
        id: '3f6d8b1a-9c2e-5f47-8a05-6b1d7e4c9f20',
        slug: 'arm-and-leg',
        name: 'Arm & Leg',
        category: 'A/B testing',
        website_url: 'https://arm-and-leg.example/',
        url: 'https://ads.example.com/v1/tools/arm-and-leg',
      },
      brands: 96,
    },
  ],
};

export const getCategoryStats = endpoint({
  method: 'GET',
  path: '/v1/categories/{categoryId}/stats',
  operationId: 'getCategoryStats',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'Read the stats of a category',
  description:
    'Figures of a category of any level: its public brands, their landing pages by type, their estimated visits, and the tools most often detected on their sites. Classification is automated and can be wrong.',
  params: categoryParams,
  query: noQuery,
  body: null,
  paramsExample: { categoryId: CATEGORY_ID },
  reply: { status: 200, shape: 'record', data: CategoryStats, example: categoryStatsExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['categories', 'pages', 'category-tools'],
  handler: async ({ params }, { db }) => {
    const [newest, pagesAsOf, toolsAsOf, sums, stats] = await Promise.all([
      readNewestOfCategories(db),
      readNewestScan(db, 'pages'),
      readNewestScan(db, 'category_tools'),
      findCategorySums(db, params.categoryId),
      readCategoryStats(db, params.categoryId),
    ]);
    if (!sums) throw CATEGORY_UNKNOWN;
    const { category, brands, brands_with_traffic: withTraffic, monthly_visits: visits } = sums;
    const data = objectText({
      category,
      brands,
      landing_urls: stats.landing_urls,
      brands_with_traffic: withTraffic,
      monthly_visits: visits,
      top_page_types: `[${stats.page_types}]`,
      top_tools: `[${stats.tools}]`,
    });
    return { data, asOf: oldestOf([sums.as_of ?? newest, pagesAsOf, toolsAsOf]) };
  },
});

export const getCategory = endpoint({
  method: 'GET',
  path: '/v1/categories/{categoryId}',
  operationId: 'getCategory',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'Read one category',
  description: 'A category of any level with its parent and totals over its public brands.',
  params: categoryParams,
  query: noQuery,
  body: null,
  paramsExample: { categoryId: CATEGORY_ID },
  reply: { status: 200, shape: 'record', data: Category, example: categoryExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['categories'],
  handler: async ({ params }, { db }) => {
    const [newest, found] = await Promise.all([
      readNewestOfCategories(db),
      findCategory(db, params.categoryId),
    ]);
    if (!found) throw CATEGORY_UNKNOWN;
    return { data: found.item, asOf: found.as_of ?? newest };
  },
});

const SLUG_MAX_LENGTH = 200;

export const listCategories = endpoint({
  ...corpusRead,
  path: '/v1/categories',
  operationId: 'listCategories',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'List categories',
  description:
    'Top-level categories, or the children of one parent, by name. With `slug`, categories of any level that carry it.',
  query: z.strictObject({
    ...pageQuery,
    parent_id: Uuid.optional().meta({ description: 'Children of this category.' }),
    slug: Slug.max(SLUG_MAX_LENGTH)
      .optional()
      .meta({ description: 'Categories of any level with this slug; with `parent_id`, of its children.' }),
  }),
  reply: { status: 200, shape: 'paged', data: Category, example: [categoryExample] },
  reads: ['categories'],
  handler: async ({ query, page }, { db }) => {
    const { parent_id: parentId, slug } = query;
    return pageAsOf(
      () => readCategories(db, omitUndefined({ parentId, slug }), page),
      (found) => latestOf(found.asOf),
      () => readNewestOfCategories(db),
    );
  },
});

export const listCategorySitemap = endpoint({
  ...corpusRead,
  path: '/v1/categories/sitemap',
  operationId: 'listCategorySitemap',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'List category pages',
  description: 'Addresses of the categories of every level that hold a public brand.',
  query: z.strictObject(pageQuery),
  reply: {
    status: 200,
    shape: 'paged',
    data: CategorySitemapEntry,
    example: [{ slug: categoryExample.slug, url: categoryExample.url, updated_at: categoryExample.as_of }],
  },
  reads: ['categories'],
  handler: async ({ page }, { db }) => {
    return pageAsOf(
      () => readSitemap(db, page),
      (found) => latestOf(found.asOf),
      () => readNewestOfCategories(db),
    );
  },
});
