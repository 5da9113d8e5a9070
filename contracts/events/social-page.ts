import type { PageRole } from '../observations/social-page-link.ts';
import type { Fact } from './fact.ts';

/** Stream `socialPage-<pageId>`: which brands a page was observed to belong with. */
export const SOCIAL_PAGE = 'socialPage';
export const socialPageStream = (pageId: string): string => `${SOCIAL_PAGE}-${pageId}`;

/** First observed, or observed with another role or confidence. */
export type PageLinked = Fact<
  'PageLinked',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly role: PageRole;
    readonly confidence: number;
    readonly observed_at: string;
  }
>;

export type PageUnlinked = Fact<
  'PageUnlinked',
  { readonly page_id: string; readonly brand_id: string; readonly observed_at: string }
>;

export type SocialPageFact = PageLinked | PageUnlinked;
