import { z } from 'zod';
import { Country } from '#contracts/values/primitives.ts';
import { listBrands } from '#operations/brands/brands.ts';
import { NOT_SEEN } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { Category, categoryIdOf, isUuid, listInput, slugCost } from '../parameters.ts';

const NAME_MAX_LENGTH = 100;

export const findBrands = tool({
  name: 'find_brands',
  title: 'Find brands',
  description: 'Lists brands by name, category or country, with counts of their ads.',
  input: z.strictObject({
    q: z.string().min(1).max(NAME_MAX_LENGTH).optional().meta({ description: 'Part of the name.' }),
    category: Category.optional(),
    country: Country.optional().meta({ description: "The brand's country." }),
    letter: z
      .string()
      .regex(/^[a-z]$/)
      .optional()
      .meta({ description: 'First letter of the name.' }),
    sort: z.enum(['active_ads', 'new_ads_7d', 'name']).default('active_ads'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ category }) =>
    category === undefined || isUuid(category) ? ['brands:read'] : ['brands:read', 'categories:read'],
  cost: ({ category }) => 1 + slugCost(category),
  run: async ({ q, category, country, letter, sort, limit, cursor }, context) => {
    const categoryId = category === undefined ? undefined : await categoryIdOf(context, category);
    const query = { q, category_id: categoryId, country, letter, sort };
    return listAnswer(listBrands, { limit, cursor, query, notes: [NOT_SEEN] }, context);
  },
});
