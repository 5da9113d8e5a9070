import type { PageClaim, PageRole } from '#contracts/observations/social-page-link.ts';
import type { Event } from '../event.ts';

/** Stream `socialPage-<pageId>`: which brands a page was observed to belong with, and what sources say of it. */
export const SOCIAL_PAGE = 'socialPage';
export const socialPageStream = (pageId: string): string => `${SOCIAL_PAGE}-${pageId}`;

/** First observed, or observed with another role or confidence. */
export type PageLinked = Event<
  'PageLinked',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly role: PageRole;
    /** What the source claims, where that cannot be served and the role is `UNVERIFIED` for it. */
    readonly claim?: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
  }
>;

export type PageUnlinked = Event<
  'PageUnlinked',
  { readonly page_id: string; readonly brand_id: string; readonly observed_at: string }
>;

/** Observed, and held back: no reader shows the link, whatever was linked before. Ends with `PageLinked`. */
export type PageLinkQuarantined = Event<
  'PageLinkQuarantined',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly claim: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
  }
>;

export type PageProfile = {
  readonly page_name: string | null;
  readonly username: string | null;
  readonly category: string | null;
  readonly verified: boolean | null;
  readonly followers: number | null;
  readonly likes: number | null;
};

/** What one source says of the page: only the fields in which it says something new. */
export type PageProfileObserved = Event<
  'PageProfileObserved',
  {
    readonly page_id: string;
    readonly source: string;
    readonly observed_at: string;
    readonly changes: Partial<PageProfile>;
  }
>;

export type SocialPageEvent = PageLinked | PageUnlinked | PageLinkQuarantined | PageProfileObserved;
