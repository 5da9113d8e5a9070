import { z } from 'zod';
import { LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';

/** What a page is to a brand, as far as it may be said. An observed association, never a statement of ownership. */
export const PageRole = z.enum(['OFFICIAL', 'REGIONAL', 'CREATOR', 'PARTNER', 'RESELLER', 'UNVERIFIED']);
export type PageRole = z.infer<typeof PageRole>;

/**
 * What a source claims a page to be. Beyond the roles, sources claim ownership and contracts, which nobody can
 * observe from outside: such a claim is kept, and served as `UNVERIFIED`.
 */
export const PageClaim = z.enum([
  ...PageRole.options,
  'OWNER',
  'SUBSIDIARY',
  'AGENCY',
  'AFFILIATE',
  'AMBASSADOR',
  'EMPLOYEE',
]);
export type PageClaim = z.infer<typeof PageClaim>;

/** A page that somebody observed to belong with a brand, or (`linked: false`) no longer to. */
export const SocialPageLink = z.strictObject({
  type: z.literal('social_page.link'),
  brand_domain: ObservedDomain,
  page_id: LibraryId,
  page_name: trimmedText(500).nullable(),
  observed_at: Timestamp,
  role: PageClaim,
  /** 0 to 1. */
  confidence: z.number().min(0).max(1),
  linked: z.boolean(),
  /** Held back: whoever observed it doubts it so much that nobody is to see it. Absent: not held back. */
  quarantined: z.boolean().optional(),
});
export type SocialPageLink = z.infer<typeof SocialPageLink>;
