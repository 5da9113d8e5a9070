import type { PageProfile, SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { type PageClaim, PageRole, type SocialPageLink } from '#contracts/observations/social-page-link.ts';
import type { SocialPageProfile } from '#contracts/observations/social-page-profile.ts';
import type { Decider } from '../decider.ts';
import { PersistentMap } from '../persistent-map.ts';

/**
 * Aggregate social page, stream `socialPage-<pageId>`: the links of one social page with brands, and its profile.
 * Parts, in order: state, evolve, decisions (`recordPageLink`, `recordPageProfile`).
 */

/** The last observed link between the page and one brand. */
type Link = {
  readonly claim: PageClaim;
  readonly confidence: number;
  readonly page_name: string | null;
  readonly observed_at: string;
  readonly status: 'linked' | 'unlinked' | 'quarantined';
};

type SourceProfile = { readonly observed_at: string; readonly stated: Partial<PageProfile> };

/** The page's links by brand id, and its profiles by source. */
export type SocialPageState = {
  readonly links: PersistentMap<Link>;
  readonly profiles: ReadonlyMap<string, SourceProfile>;
};

const initial: SocialPageState = { links: PersistentMap.empty(), profiles: new Map() };

const withLink = (state: SocialPageState, brandId: string, link: Link): SocialPageState => ({
  ...state,
  links: state.links.with(brandId, link),
});

const evolve = (state: SocialPageState, event: SocialPageEvent): SocialPageState => {
  switch (event.type) {
    case 'PageLinked': {
      const { brand_id, role, claim = role, confidence, page_name, observed_at } = event.data;
      return withLink(state, brand_id, { claim, confidence, page_name, observed_at, status: 'linked' });
    }
    case 'PageLinkQuarantined': {
      const { brand_id, claim, confidence, page_name, observed_at } = event.data;
      return withLink(state, brand_id, { claim, confidence, page_name, observed_at, status: 'quarantined' });
    }
    case 'PageUnlinked': {
      const { brand_id, observed_at } = event.data;
      const link = state.links.get(brand_id);
      return link ? withLink(state, brand_id, { ...link, status: 'unlinked', observed_at }) : state;
    }
    case 'PageProfileObserved': {
      const { source, observed_at, changes } = event.data;
      const stated = { ...state.profiles.get(source)?.stated, ...changes };
      return { ...state, profiles: new Map(state.profiles).set(source, { observed_at, stated }) };
    }
  }
};

export const socialPage: Decider<SocialPageState, SocialPageEvent> = { initial, evolve };

/** Lowest confidence at which a claim may be served. Below it the claim is more likely wrong than right. */
export const SERVABLE_CONFIDENCE_MIN = 0.5;

/** Returns the role that may be shown for a claim. Claims of ownership or contracts, and guesses, are `UNVERIFIED`. */
export const servableRole = (claim: PageClaim, confidence: number): PageRole =>
  confidence < SERVABLE_CONFIDENCE_MIN ? 'UNVERIFIED' : (PageRole.safeParse(claim).data ?? 'UNVERIFIED');

/**
 * Links, unlinks or quarantines a page of a brand. An observation older than the last one of the same page and brand
 * changes nothing.
 */
export const recordPageLink =
  (observation: SocialPageLink, brandId: string) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, observed_at, role: claim, confidence } = observation;
    const existing = state.links.get(brandId);
    if (existing && observed_at < existing.observed_at) return [];
    if (!observation.linked) {
      return existing === undefined || existing.status === 'unlinked'
        ? []
        : [{ type: 'PageUnlinked', data: { page_id, brand_id: brandId, observed_at } }];
    }
    const status = observation.quarantined === true ? 'quarantined' : 'linked';
    const page_name = observation.page_name ?? existing?.page_name ?? null;
    const same =
      existing?.status === status &&
      existing.claim === claim &&
      existing.confidence === confidence &&
      existing.page_name === page_name;
    if (same) return [];
    const about = { page_id, page_name, brand_id: brandId, confidence, observed_at };
    if (status === 'quarantined') return [{ type: 'PageLinkQuarantined', data: { ...about, claim } }];
    const role = servableRole(claim, confidence);
    return [{ type: 'PageLinked', data: { ...about, role, ...(role === claim ? {} : { claim }) } }];
  };

/** Returns the fields that a profile states; blanks are left out. */
const statedFields = (profile: SocialPageProfile): Partial<PageProfile> => {
  const { page_name, username, category, verified, followers, likes } = profile;
  const fields = { page_name, username, category, verified, followers, likes };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
};

/**
 * Records the fields that differ from the same source's last profile. Sources may disagree, so they are not compared.
 */
export const recordPageProfile =
  (profile: SocialPageProfile) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, source, observed_at } = profile;
    const existing = state.profiles.get(source);
    if (existing && observed_at < existing.observed_at) return [];
    const before: Readonly<Record<string, unknown>> = existing?.stated ?? {};
    const changes = Object.fromEntries(
      Object.entries(statedFields(profile)).filter(([field, value]) => before[field] !== value),
    );
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'PageProfileObserved', data: { page_id, source, observed_at, changes } }];
  };
