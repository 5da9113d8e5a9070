import { z } from 'zod';
import { Country, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { boundedWebAddress, cutKeyText, cutTrimmedText } from '../values/text.ts';

/** Levels of a category tree: top level, middle, leaf. */
export const CATEGORY_LEVELS_MAX = 3;

/**
 * Observed profile of a brand. `null` means unknown and overwrites nothing; the same holds for a missing category
 * path.
 */
export const BrandProfile = z.strictObject({
  type: z.literal('brand.profile'),
  domain: ObservedDomain,
  observed_at: Timestamp,
  name: cutTrimmedText(200),
  description: cutTrimmedText(5_000).nullable(),
  url: boundedWebAddress(2_048).nullable(),
  logo_url: boundedWebAddress(2_048).nullable(),
  country: Country.nullable(),
  /** Names from the top level down, `["Apparel", "Shoes"]`. */
  category_path: z.array(cutKeyText(100)).min(1).max(CATEGORY_LEVELS_MAX).nullable(),
  /** Whether the brand is listed in the public directory, and whether its own page may be indexed. */
  is_public: z.boolean().nullable(),
  indexable: z.boolean().nullable(),
});
export type BrandProfile = z.infer<typeof BrandProfile>;
