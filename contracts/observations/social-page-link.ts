import { z } from 'zod';
import { Domain, LibraryId, Timestamp } from '../primitives.ts';

/** What a page is to a brand. An observed association, never a statement of ownership. */
export const PageRole = z.enum(['OFFICIAL', 'REGIONAL', 'CREATOR', 'PARTNER', 'RESELLER', 'UNVERIFIED']);
export type PageRole = z.infer<typeof PageRole>;

/** A page that somebody observed to belong with a brand, or (`linked: false`) no longer to. */
export const SocialPageLink = z.strictObject({
  type: z.literal('social_page.link'),
  brand_domain: Domain,
  page_id: LibraryId,
  page_name: z.string().trim().min(1).max(500).nullable(),
  observed_at: Timestamp,
  role: PageRole,
  /** 0 to 1. */
  confidence: z.number().min(0).max(1),
  linked: z.boolean(),
});
export type SocialPageLink = z.infer<typeof SocialPageLink>;
