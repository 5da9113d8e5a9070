import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { slugOrUuid } from '#operations/endpoint/parameters.ts';
import { getBrand } from '#operations/brands/brands.ts';
import { listCategories } from '#operations/categories.ts';
import type { Json, JsonObject } from '../output/observed.ts';
import { IMAGE_TYPES, IMAGES_MAX } from '../output/pictures.ts';
import type { PastInput } from '../output/result.ts';
import type { ToolContext } from './define-tool.ts';

const LIMIT_MAX = 25;
export const LIMIT_DEFAULT = 10;
const CURSOR_MAX_LENGTH = 2_048;

export const listInput = {
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  cursor: z
    .string()
    .min(1)
    .max(CURSOR_MAX_LENGTH)
    .optional()
    .meta({ description: '`next_cursor` of the page before; same other arguments.' }),
} as const;

const TIME_MAX_LENGTH = 40;
/** Endpoints check times and days, so that `tools/list` does not repeat their patterns. */
export const timeInput = (description: string, format: 'date-time' | 'date' = 'date-time') =>
  z.string().max(TIME_MAX_LENGTH).optional().meta({ format, description });
/** `where`: parts of the tool that have a past. */
export const pastInput = (where: string) => ({
  as_of: timeInput(`Past moment such as 2026-11-01T00:00:00Z; the answer is as known then. For ${where}.`),
  observed_as_of: timeInput('The same, by what was observed until then, also if recorded later.'),
});
/** The earlier moment; `undefined`: now. */
export const momentIn = ({ as_of, observed_as_of }: PastInput): string | undefined =>
  [as_of, observed_as_of].filter((one) => one !== undefined).toSorted()[0];
export const PAST_INPUT = '`as_of` and `observed_as_of`';

export const Brand = slugOrUuid.meta({ description: 'Slug or uuid of a brand.' });
export const Category = slugOrUuid.meta({ description: 'Slug or uuid of a category.' });
export const imagesInput = (defaultCount: number) => ({
  images: z
    .int()
    .min(0)
    .max(IMAGES_MAX)
    .default(defaultCount)
    .meta({ description: 'Thumbnails to attach, where stored; `image_index` names their creatives.' }),
  image_type: z
    .enum(IMAGE_TYPES)
    .default('webp')
    .meta({ description: '`png` for clients that do not show WebP.' }),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);
export const slugCost = (text: unknown): 0 | 1 => (text === undefined || isUuid(text) ? 0 : 1);

const fieldOf = (value: Json, field: string): Json | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as JsonObject)[field]
    : undefined;
export const textField = (value: Json, field: string): string => {
  const text = fieldOf(value, field);
  if (typeof text !== 'string') throw new Error(`no text in ${field}`);
  return text;
};

export const brandIdOf = async ({ call }: ToolContext, text: string): Promise<string> => {
  if (isUuid(text)) return text.toLowerCase();
  const { data } = await call(getBrand, { params: { brandId: text } });
  return textField(data, 'id');
};

export const categoryIdOf = async ({ call }: ToolContext, text: string): Promise<string> => {
  if (isUuid(text)) return text.toLowerCase();
  const { data } = await call(listCategories, { query: { slug: text } });
  const ids = (data as readonly Json[]).map((one) => textField(one, 'id'));
  const [first, second] = ids;
  if (first === undefined) {
    throw new Refusal(
      'not_found',
      'No category has this slug. `explore_market` with kind `categories` lists them.',
    );
  }
  if (second !== undefined) {
    throw new Refusal(
      'invalid_input',
      `Several categories have this slug. Give one of the ids: ${ids.join(', ')}.`,
    );
  }
  return first;
};
