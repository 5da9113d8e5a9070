import type { PageClaim, PageRole } from '#contracts/observations/social-page-link.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/**
 * Stream `socialPage-<pageId>`: brands that a social page was observed to belong with, and its profile by source.
 */
export const SOCIAL_PAGE = 'socialPage';
export const socialPageStream = (pageId: string): string => `${SOCIAL_PAGE}-${pageId}`;

/** The link was observed for the first time, or with another role or confidence. */
export type PageLinked = Event<
  'PageLinked',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly role: PageRole;
    /** The source's claim, if it cannot be served. The role is then `UNVERIFIED`. */
    readonly claim?: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    /** Time at which the name was observed, if another observation than this one states it. */
    readonly named_at?: string;
  }
>;

export type PageUnlinked = Event<
  'PageUnlinked',
  { readonly page_id: string; readonly brand_id: string; readonly observed_at: string }
>;

/**
 * The link was observed and quarantined: no reader shows it, even if it was linked before. A later `PageLinked`
 * ends this.
 */
export type PageLinkQuarantined = Event<
  'PageLinkQuarantined',
  {
    readonly page_id: string;
    readonly page_name: string | null;
    readonly brand_id: string;
    readonly claim: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    /** See `PageLinked`. */
    readonly named_at?: string;
  }
>;

/**
 * An observation of a link that changes nothing now: it is older than another one of the same link, says the same, or
 * ends a link that was never observed. It shows which links held at its time (rule 9).
 */
export type PageLinkObserved = Event<
  'PageLinkObserved',
  {
    readonly page_id: string;
    readonly brand_id: string;
    readonly status: PageLinkStatus;
    readonly claim: PageClaim;
    readonly confidence: number;
    readonly observed_at: string;
    /** The page's name, if the observation states it. Absent in events of earlier releases. */
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

/** One source's data about the page, with values that are new for this source or that are stated again later. */
export type PageProfileObserved = Event<
  'PageProfileObserved',
  {
    readonly page_id: string;
    readonly source: string;
    readonly observed_at: string;
    /** Only the fields that are new for this source, and the page's name whenever it is stated again later. */
    readonly changes: Partial<PageProfile>;
    /** Fields that are stated as they were, later than before. Absent in events of earlier releases. */
    readonly confirmed?: readonly (keyof PageProfile)[];
  }
>;

export type SocialPageEvent =
  | PageLinked
  | PageUnlinked
  | PageLinkQuarantined
  | PageLinkObserved
  | PageProfileObserved;

/** Schema versions: each type's upcasters, from version 1 on. */
export const socialPageVersions: EventVersions<SocialPageEvent> = {
  PageLinked: [],
  PageUnlinked: [],
  PageLinkQuarantined: [],
  PageLinkObserved: [],
  PageProfileObserved: [],
};
