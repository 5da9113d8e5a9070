import { z } from 'zod';
import { Slug, Uuid } from '#contracts/values/primitives.ts';
import { Category } from '#contracts/resources/corpus/category.ts';
import { listCategories as readCategories, readNewestOfCategories } from '#projections/categories/read.ts';
import { latestOf } from '../endpoint/reply.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { omitUndefined } from '../endpoint/omit-undefined.ts';
import { noParams, pageQuery } from '../endpoint/parameters.ts';
import { categoryExample } from './examples.ts';

const SLUG_MAX_LENGTH = 200;

export const listCategories = endpoint({
  method: 'GET',
  path: '/v1/categories',
  operationId: 'listCategories',
  tag: 'Categories',
  scope: 'categories:read',
  summary: 'List categories',
  description:
    'Top-level categories, or the children of one parent, by name. With `slug`, categories of any level that carry it.',
  params: noParams,
  query: z.strictObject({
    ...pageQuery,
    parent_id: Uuid.optional().meta({ description: 'Children of this category.' }),
    slug: Slug.max(SLUG_MAX_LENGTH)
      .optional()
      .meta({ description: 'Categories of any level with this slug; with `parent_id`, of its children.' }),
  }),
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'paged', data: Category, example: [categoryExample] },
  errors: [],
  corpus: true,
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
