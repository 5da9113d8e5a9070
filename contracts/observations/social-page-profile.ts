import { z } from 'zod';
import { Count, LibraryId, Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';

/**
 * What one source says of a page. Sources disagree (they count on different days, and by different rules), so
 * each is kept by its name. `null` means "not said" and overwrites nothing.
 */
export const SocialPageProfile = z.strictObject({
  type: z.literal('social_page.profile'),
  page_id: LibraryId,
  observed_at: Timestamp,
  /** Who says so: the name of a collector or of the surface it read. */
  source: trimmedText(100),
  page_name: trimmedText(500).nullable(),
  /** The name in the page's address. */
  username: trimmedText(100).nullable(),
  /** The page's own category, in the network's words. */
  category: trimmedText(200).nullable(),
  /** Whether the network shows the page as verified. */
  verified: z.boolean().nullable(),
  followers: Count.nullable(),
  likes: Count.nullable(),
});
export type SocialPageProfile = z.infer<typeof SocialPageProfile>;
