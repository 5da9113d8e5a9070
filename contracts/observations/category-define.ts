import { z } from 'zod';
import { Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';
import { CATEGORY_LEVELS_MAX } from './brand-profile.ts';

export const CATEGORY_NAME_MAX_CHARACTERS = 100;
export const CATEGORY_DESCRIPTION_MAX_CHARACTERS = 2_000;
export const TAXONOMY_ID_MAX_CHARACTERS = 100;

/** A category's name. `>` stands between the names of a path wherever one is written as text. */
const CategoryName = trimmedText(CATEGORY_NAME_MAX_CHARACTERS).refine(
  (name) => !name.includes('>'),
  'a name holds no ">": give each level a name of its own',
);

const repeats = (path: readonly string[]): boolean =>
  new Set(path.map((name) => name.toLowerCase())).size < path.length;

/**
 * A category of a tree of three levels, as a taxonomy defines it. Which category it is follows from its path, as
 * with the categories that brand profiles name; the taxonomy's id is kept beside it. `null` means "not said".
 */
export const CategoryDefine = z
  .strictObject({
    type: z.literal('category.define'),
    observed_at: Timestamp,
    /** Names from the top level down to the category itself, `["Apparel", "Shoes"]`. */
    path: z
      .array(CategoryName)
      .min(1)
      .max(CATEGORY_LEVELS_MAX)
      .refine((path) => !repeats(path), 'names a category inside itself; a path holds each name once'),
    /** 1 for a top level; where it is said, the path has to be as long. */
    level: z.int().min(1).max(CATEGORY_LEVELS_MAX).nullable(),
    /** Whose id it is, `google-product-taxonomy`. */
    taxonomy: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,99}$/, 'lower-case letters, digits, dots and hyphens')
      .nullable(),
    taxonomy_id: trimmedText(TAXONOMY_ID_MAX_CHARACTERS).nullable(),
    description: trimmedText(CATEGORY_DESCRIPTION_MAX_CHARACTERS).nullable(),
  })
  .refine(({ level, path }) => level === null || level === path.length, {
    path: ['level'],
    message: 'is not the number of names on the path; mend one of the two',
  })
  .refine((said) => (said.taxonomy === null) === (said.taxonomy_id === null), {
    path: ['taxonomy_id'],
    message: 'an id and its taxonomy come together',
  });
export type CategoryDefine = z.infer<typeof CategoryDefine>;
