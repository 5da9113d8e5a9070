import { z } from 'zod';
import { Count, LibraryId, Timestamp } from '../values/primitives.ts';
import { cutKeyText, cutTrimmedText } from '../values/text.ts';

/** Sources count by different rules, so each has its own data. `null` means unknown and overwrites nothing. */
export const SocialPageProfile = z.strictObject({
  type: z.literal('social_page.profile'),
  page_id: LibraryId,
  observed_at: Timestamp,
  /** The collector, or the surface that it read. */
  source: cutKeyText(100),
  page_name: cutTrimmedText(500).nullable(),
  username: cutTrimmedText(100).nullable(),
  category: cutTrimmedText(200).nullable(),
  verified: z.boolean().nullable(),
  followers: Count.nullable(),
  likes: Count.nullable(),
});
export type SocialPageProfile = z.infer<typeof SocialPageProfile>;
