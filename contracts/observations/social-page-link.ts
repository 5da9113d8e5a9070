import { z } from 'zod';
import { LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { cutTrimmedText } from '../values/text.ts';

/** An observed association, not a statement of ownership. */
export const PageRole = z.enum(['OFFICIAL', 'REGIONAL', 'CREATOR', 'PARTNER', 'RESELLER', 'UNVERIFIED']);
export type PageRole = z.infer<typeof PageRole>;

/** Claims of ownership and contracts cannot be observed. They are stored, and served as `UNVERIFIED`. */
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

/** Below it a claim is more likely wrong than right. */
const SERVABLE_CONFIDENCE_MIN = 0.5;

/** Claims of ownership or contracts, and guesses, become `UNVERIFIED`. */
export const servableRole = (claim: PageClaim, confidence: number): PageRole =>
  confidence < SERVABLE_CONFIDENCE_MIN ? 'UNVERIFIED' : (PageRole.safeParse(claim).data ?? 'UNVERIFIED');

/** `linked: false` ends the association. A link that is not quarantined registers a brand that nothing named before. */
export const SocialPageLink = z.strictObject({
  type: z.literal('social_page.link'),
  brand_domain: ObservedDomain,
  page_id: LibraryId,
  page_name: cutTrimmedText(500).nullable(),
  observed_at: Timestamp,
  role: PageClaim,
  confidence: z.number().min(0).max(1),
  linked: z.boolean(),
  /** The source doubts the link too much for it to be shown. Absent means false. */
  quarantined: z.boolean().optional(),
});
export type SocialPageLink = z.infer<typeof SocialPageLink>;
