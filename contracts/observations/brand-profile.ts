import { z } from 'zod';
import { Country, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { boundedWebAddress, cutKeyText, cutTrimmedText } from '../values/text.ts';

export const CATEGORY_LEVELS_MAX = 3;

/** `null`, or a missing category path, means unknown and overwrites nothing. */
export const BrandProfile = z.strictObject({
  type: z.literal('brand.profile'),
  domain: ObservedDomain,
  observed_at: Timestamp,
  name: cutTrimmedText(200),
  description: cutTrimmedText(5_000).nullable(),
  url: boundedWebAddress(2_048).nullable(),
  logo_url: boundedWebAddress(2_048).nullable(),
  country: Country.nullable(),
  category_path: z.array(cutKeyText(100)).min(1).max(CATEGORY_LEVELS_MAX).nullable(),
  is_public: z.boolean().nullable(),
  indexable: z.boolean().nullable(),
});
export type BrandProfile = z.infer<typeof BrandProfile>;
