import { z } from 'zod';
import { Timestamp } from '../values/primitives.ts';
import { cutKeyText, cutTrimmedText } from '../values/text.ts';
import { CATEGORY_LEVELS_MAX } from './brand-profile.ts';

export const CATEGORY_NAME_MAX_CHARACTERS = 100;
export const CATEGORY_DESCRIPTION_MAX_CHARACTERS = 2_000;
export const TAXONOMY_ID_MAX_CHARACTERS = 100;

/** `>` separates the names of a path written as text. */
const CategoryName = cutKeyText(CATEGORY_NAME_MAX_CHARACTERS).refine(
  (name) => !name.includes('>'),
  'a name holds no ">": give each level a name of its own',
);

const hasRepeatedName = (path: readonly string[]): boolean =>
  new Set(path.map((name) => name.toLowerCase())).size < path.length;

/** The path identifies the category; the taxonomy's own id is stored with it. `null` means unknown. */
export const CategoryDefine = z
  .strictObject({
    type: z.literal('category.define'),
    observed_at: Timestamp,
    path: z
      .array(CategoryName)
      .min(1)
      .max(CATEGORY_LEVELS_MAX)
      .refine(
        (path) => !hasRepeatedName(path),
        'names a category inside itself; a path holds each name once',
      ),
    /** 1 for a top level. If given, it must equal the length of the path. */
    level: z.int().min(1).max(CATEGORY_LEVELS_MAX).nullable(),
    taxonomy: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{0,99}$/, 'lower-case letters, digits, dots and hyphens')
      .nullable(),
    taxonomy_id: cutKeyText(TAXONOMY_ID_MAX_CHARACTERS).nullable(),
    description: cutTrimmedText(CATEGORY_DESCRIPTION_MAX_CHARACTERS).nullable(),
  })
  .refine(({ level, path }) => level === null || level === path.length, {
    path: ['level'],
    message: 'is not the number of names on the path; fix one of the two',
  })
  .refine(({ taxonomy, taxonomy_id }) => (taxonomy === null) === (taxonomy_id === null), {
    path: ['taxonomy_id'],
    message: 'an id needs its taxonomy, and a taxonomy its id',
  });
export type CategoryDefine = z.infer<typeof CategoryDefine>;
