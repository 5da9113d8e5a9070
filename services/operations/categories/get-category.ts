import { Category } from '#contracts/resources/corpus/category.ts';
import { findCategory, readNewestOfCategories } from '#projections/categories/read.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { noQuery } from '../endpoint/parameters.ts';
import { CATEGORY_ID, categoryExample } from './examples.ts';
import { CATEGORY_UNKNOWN, categoryParams } from './parameters.ts';

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
