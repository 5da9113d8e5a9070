import { z } from 'zod';
import { LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { cutTrimmedText } from '../values/text.ts';

/** Role of a page for a brand. An observed association, not a statement of ownership. */
export const PageRole = z.enum(['OFFICIAL', 'REGIONAL', 'CREATOR', 'PARTNER', 'RESELLER', 'UNVERIFIED']);
export type PageRole = z.infer<typeof PageRole>;

/**
 * Role that a source claims for a page. Sources also claim ownership and contracts, which cannot be observed from
 * outside. Such a claim is stored, and served as `UNVERIFIED`.
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

/** Lowest confidence at which a claim may be served. Below it the claim is more likely wrong than right. */
const SERVABLE_CONFIDENCE_MIN = 0.5;

/** Returns the role that may be shown for a claim. Claims of ownership or contracts, and guesses, are `UNVERIFIED`. */
export const servableRole = (claim: PageClaim, confidence: number): PageRole =>
  confidence < SERVABLE_CONFIDENCE_MIN ? 'UNVERIFIED' : (PageRole.safeParse(claim).data ?? 'UNVERIFIED');

/**
 * A page that was observed to belong with a brand, or no longer to (`linked: false`). A link that is not quarantined
 * registers the brand if nothing named it before.
 */
export const SocialPageLink = z.strictObject({
  type: z.literal('social_page.link'),
  brand_domain: ObservedDomain,
  page_id: LibraryId,
  page_name: cutTrimmedText(500).nullable(),
  observed_at: Timestamp,
  role: PageClaim,
  /** 0 to 1. */
  confidence: z.number().min(0).max(1),
  linked: z.boolean(),
  /** Quarantined: the source doubts the link too much for it to be shown. Absent means false. */
  quarantined: z.boolean().optional(),
});
export type SocialPageLink = z.infer<typeof SocialPageLink>;
