import { objectText } from '#contracts/values/json-text.ts';
import { CategoryStats } from '#contracts/resources/corpus/category.ts';
import { readCategoryStats } from '#projections/queries/category-stats.ts';
import { findCategorySums, readNewestOfCategories } from '#projections/categories/read.ts';
import { readNewestScan } from '#projections/shared-tables/applied-scan.ts';
import { oldestOf } from '../endpoint/reply.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { CATEGORY_ID } from './examples.ts';
import { CATEGORY_UNKNOWN, categoryParams } from './parameters.ts';
import { brandSummary } from '../endpoint/examples.ts';

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
