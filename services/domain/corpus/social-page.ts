import type { PageProfile, SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { type PageClaim, PageRole, type SocialPageLink } from '#contracts/observations/social-page-link.ts';
import type { SocialPageProfile } from '#contracts/observations/social-page-profile.ts';

type Link = {
  readonly claim: PageClaim;
  readonly confidence: number;
  readonly page_name: string | null;
  readonly observed_at: string;
  readonly status: 'linked' | 'unlinked' | 'quarantined';
};

type SourceProfile = { readonly observed_at: string; readonly said: Partial<PageProfile> };

/** What was last observed of the page's link with each brand, and what each source says of the page. */
export type SocialPageState = {
  readonly links: ReadonlyMap<string, Link>;
  readonly profiles: ReadonlyMap<string, SourceProfile>;
};

/** Below it a claim is more likely wrong than right, whatever it says. */
export const SERVED_FROM_CONFIDENCE = 0.5;

/** The role that may be shown for a claim: ownership, contracts and guesses are `UNVERIFIED`. */
export const servableRole = (claim: PageClaim, confidence: number): PageRole =>
  confidence < SERVED_FROM_CONFIDENCE ? 'UNVERIFIED' : (PageRole.safeParse(claim).data ?? 'UNVERIFIED');

const withLink = (state: SocialPageState, brandId: string, link: Link): SocialPageState => ({
  ...state,
  links: new Map(state.links).set(brandId, link),
});

export const socialPage = {
  initial: { links: new Map(), profiles: new Map() } as SocialPageState,
  evolve: (state: SocialPageState, event: SocialPageEvent): SocialPageState => {
    switch (event.type) {
      case 'PageLinked': {
        const { brand_id, role, claim = role, confidence, page_name, observed_at } = event.data;
        return withLink(state, brand_id, { claim, confidence, page_name, observed_at, status: 'linked' });
      }
      case 'PageLinkQuarantined': {
        const { brand_id, claim, confidence, page_name, observed_at } = event.data;
        return withLink(state, brand_id, {
          claim,
          confidence,
          page_name,
          observed_at,
          status: 'quarantined',
        });
      }
      case 'PageUnlinked': {
        const { brand_id, observed_at } = event.data;
        const link = state.links.get(brand_id);
        return link ? withLink(state, brand_id, { ...link, status: 'unlinked', observed_at }) : state;
      }
      case 'PageProfileObserved': {
        const { source, observed_at, changes } = event.data;
        const said = { ...state.profiles.get(source)?.said, ...changes };
        return { ...state, profiles: new Map(state.profiles).set(source, { observed_at, said }) };
      }
    }
  },
};

/** Links, unlinks and holds back; an observation older than the last one of the same pair changes nothing. */
export const recordPageLink =
  (observation: SocialPageLink, brandId: string) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, observed_at, role: claim, confidence } = observation;
    const known = state.links.get(brandId);
    if (known && observed_at < known.observed_at) return [];
    if (!observation.linked) {
      return known === undefined || known.status === 'unlinked'
        ? []
        : [{ type: 'PageUnlinked', data: { page_id, brand_id: brandId, observed_at } }];
    }
    const status = observation.quarantined === true ? 'quarantined' : 'linked';
    const page_name = observation.page_name ?? known?.page_name ?? null;
    const same =
      known?.status === status &&
      known.claim === claim &&
      known.confidence === confidence &&
      known.page_name === page_name;
    if (same) return [];
    const about = { page_id, page_name, brand_id: brandId, confidence, observed_at };
    if (status === 'quarantined') return [{ type: 'PageLinkQuarantined', data: { ...about, claim } }];
    const role = servableRole(claim, confidence);
    return [{ type: 'PageLinked', data: { ...about, role, ...(role === claim ? {} : { claim }) } }];
  };

/** What a profile says, without what it leaves unsaid. */
const saidBy = (profile: SocialPageProfile): Partial<PageProfile> => {
  const { page_name, username, category, verified, followers, likes } = profile;
  const fields = { page_name, username, category, verified, followers, likes };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
};

/** What the source did not say before. Each source is compared with itself alone: two may disagree. */
export const recordPageProfile =
  (profile: SocialPageProfile) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, source, observed_at } = profile;
    const known = state.profiles.get(source);
    if (known && observed_at < known.observed_at) return [];
    const before: Readonly<Record<string, unknown>> = known?.said ?? {};
    const changes = Object.fromEntries(
      Object.entries(saidBy(profile)).filter(([field, value]) => before[field] !== value),
    );
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'PageProfileObserved', data: { page_id, source, observed_at, changes } }];
  };
