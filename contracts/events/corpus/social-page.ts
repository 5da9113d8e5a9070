import type { PageClaim, PageRole } from '#contracts/observations/social-page-link.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `socialPage-<pageId>`: brands observed with a page, and its profile by source. */
export const SOCIAL_PAGE = 'socialPage';
export const socialPageStream = (pageId: string): string => `${SOCIAL_PAGE}-${pageId}`;

export type PageLinked = Event<
  'PageLinked',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly role: PageRole;
    /** Claim that cannot be served; the role is then `UNVERIFIED`. */
    readonly claim?: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    /** Set if another observation than this one states the name. */
    readonly named_at?: string;
  }
>;

export type PageUnlinked = Event<
  'PageUnlinked',
  { readonly page_id: string; readonly brand_id: string; readonly observed_at: string }
>;

/** No reader shows the link, even if it was linked before, until a later `PageLinked`. */
export type PageLinkQuarantined = Event<
  'PageLinkQuarantined',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly claim: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    readonly named_at?: string;
  }
>;

/** Changes nothing now: older, the same, or an end of a link never observed. Tells which links held then (rule 9). */
export type PageLinkObserved = Event<
  'PageLinkObserved',
  {
    readonly page_id: string;
    readonly brand_id: string;
    readonly status: PageLinkStatus;
    readonly claim: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    /** Absent without a stated name. */
    readonly page_name?: string;
  }
>;

export type PageLinkStatus = 'linked' | 'unlinked' | 'quarantined';

export type PageProfile = {
  readonly page_name: string | null;
  readonly username: string | null;
  readonly category: string | null;
  readonly verified: boolean | null;
  readonly followers: number | null;
  readonly likes: number | null;
};

export type PageProfileObserved = Event<
  'PageProfileObserved',
  {
    readonly page_id: string;
    readonly source: string;
    readonly observed_at: string;
    /** New fields for this source, and the page's name whenever stated again later. */
    readonly changes: Partial<PageProfile>;
    /** Fields that are stated unchanged at a later time. Absent: none. */
    readonly confirmed?: readonly (keyof PageProfile)[];
  }
>;

export type SocialPageEvent =
  | PageLinked
  | PageUnlinked
  | PageLinkQuarantined
  | PageLinkObserved
  | PageProfileObserved;

export const socialPageVersions: EventVersions<SocialPageEvent> = {
  PageLinked: [],
  PageUnlinked: [],
  PageLinkQuarantined: [],
  PageLinkObserved: [],
  PageProfileObserved: [],
};
