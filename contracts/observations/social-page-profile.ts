import { z } from 'zod';
import { Count, LibraryId, Timestamp } from '../values/primitives.ts';
import { cutKeyText, cutTrimmedText } from '../values/text.ts';

/**
 * One source's data about a page. Sources count on different days and by different rules, so each is stored under
 * its name. `null` means unknown and overwrites nothing.
 */
export const SocialPageProfile = z.strictObject({
  type: z.literal('social_page.profile'),
  page_id: LibraryId,
  observed_at: Timestamp,
  /** Name of the collector, or of the surface that it read. */
  source: cutKeyText(100),
  page_name: cutTrimmedText(500).nullable(),
  /** The name in the page's URL. */
  username: cutTrimmedText(100).nullable(),
  /** The page's own category, in the network's wording. */
  category: cutTrimmedText(200).nullable(),
  /** Whether the network shows the page as verified. */
  verified: z.boolean().nullable(),
  followers: Count.nullable(),
  likes: Count.nullable(),
});
export type SocialPageProfile = z.infer<typeof SocialPageProfile>;
