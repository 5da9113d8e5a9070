import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { Uuid } from '#contracts/values/primitives.ts';

export const categoryParams = z.strictObject({
  categoryId: Uuid.meta({ description: 'Id of a category of any level.' }),
});

export const CATEGORY_UNKNOWN = new Refusal('not_found', 'Category not found.');
