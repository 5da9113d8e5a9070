import { z } from 'zod';
import { PageTypeName } from '#contracts/resources/corpus/landing-page.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { listPages as listPagesEndpoint } from '#operations/pages.ts';
import { NOT_SEEN } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { Brand, brandIdOf, Category, categoryIdOf, isUuid, listInput, slugCost } from '../parameters.ts';

const URL_PART_MIN_LENGTH = 3;
const URL_PART_MAX_LENGTH = 200;

export const listPages = tool({
  name: 'list_pages',
  title: 'List landing pages',
  description: 'Lists landing pages that ads lead to, by brand, category, type or part of the address.',
  input: z.strictObject({
    brand: Brand.optional(),
    category: Category.optional(),
    page_type: PageTypeName.optional(),
    url: z.string().min(URL_PART_MIN_LENGTH).max(URL_PART_MAX_LENGTH).optional().meta({
      description: 'Part of the address.',
    }),
    sort: z.enum(['newest', 'popular']).default('newest'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand, category }): readonly Scope[] => [
    'pages:read',
    ...(brand === undefined || isUuid(brand) ? [] : ['brands:read' as const]),
    ...(category === undefined || isUuid(category) ? [] : ['categories:read' as const]),
  ],
  cost: ({ brand, category }) => 1 + slugCost(brand) + slugCost(category),
  run: async ({ brand, category, page_type, url, sort, limit, cursor }, context) => {
    const [brandId, categoryId] = await Promise.all([
      brand === undefined ? undefined : brandIdOf(context, brand),
      category === undefined ? undefined : categoryIdOf(context, category),
    ]);
    const query = { brand_id: brandId, category_id: categoryId, page_type, url, sort };
    return listAnswer(listPagesEndpoint, { limit, cursor, query, notes: [NOT_SEEN] }, context);
  },
});
