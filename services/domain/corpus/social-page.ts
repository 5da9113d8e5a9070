import type { PageLinkStatus, PageProfile, SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import {
  type PageClaim,
  servableRole,
  type SocialPageLink,
} from '#contracts/observations/social-page-link.ts';
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
  readonly status: PageLinkStatus;
  /** Statements of the newest observations, by time. */
  readonly statements: ReadonlyMap<string, string>;
};

/** Status of a link by one observation, with the source's claim. */
type LinkStatement = {
  readonly status: PageLinkStatus;
  readonly claim: PageClaim;
  readonly confidence: number;
};

/** Maximum observations of a link in the state. Observations that are older than all of these are ignored. */
const LINK_OBSERVATIONS_MAX = 400;

type SourceProfile = { readonly observed_at: string; readonly stated: Partial<PageProfile> };

/** The page's links by brand id, and its profiles by source. */
export type SocialPageState = {
  readonly links: PersistentMap<Link>;
  readonly profiles: ReadonlyMap<string, SourceProfile>;
};

const initial: SocialPageState = { links: PersistentMap.empty(), profiles: new Map() };

/** Returns the statement as a text to compare. An unlinked page has neither claim nor confidence. */
const statementOf = ({ status, claim, confidence }: LinkStatement): string =>
  status === 'unlinked' ? status : `${status} ${claim} ${confidence}`;

const oldestOf = ({ statements }: Link): string =>
  [...statements.keys()].reduce((oldest, time) => (time < oldest ? time : oldest));

/** Adds an observation of the link. `link` is the link as it is after it. */
const withLink = (
  state: SocialPageState,
  brandId: string,
  link: Omit<Link, 'statements'>,
  at: string,
  statement: LinkStatement,
): SocialPageState => {
  const statements = new Map(state.links.get(brandId)?.statements).set(at, statementOf(statement));
  const added = { ...link, statements };
  if (statements.size > LINK_OBSERVATIONS_MAX) statements.delete(oldestOf(added));
  return { ...state, links: state.links.with(brandId, added) };
};

const evolve = (state: SocialPageState, event: SocialPageEvent): SocialPageState => {
  switch (event.type) {
    case 'PageLinked': {
      const { brand_id, role, claim = role, confidence, page_name, observed_at } = event.data;
      const link = { claim, confidence, page_name, observed_at, status: 'linked' } as const;
      return withLink(state, brand_id, link, observed_at, link);
    }
    case 'PageLinkQuarantined': {
      const { brand_id, claim, confidence, page_name, observed_at } = event.data;
      const link = { claim, confidence, page_name, observed_at, status: 'quarantined' } as const;
      return withLink(state, brand_id, link, observed_at, link);
    }
    case 'PageUnlinked': {
      const { brand_id, observed_at } = event.data;
      const existing = state.links.get(brand_id);
      if (!existing) return state;
      const link = { ...existing, status: 'unlinked', observed_at } as const;
      return withLink(state, brand_id, link, observed_at, link);
    }
    case 'PageLinkObserved': {
      const { brand_id, observed_at, status, claim, confidence } = event.data;
      const link = state.links.get(brand_id) ?? { status, claim, confidence, page_name: null, observed_at };
      const newest = observed_at > link.observed_at ? observed_at : link.observed_at;
      return withLink(state, brand_id, { ...link, observed_at: newest }, observed_at, event.data);
    }
    case 'PageProfileObserved': {
      const { source, observed_at, changes } = event.data;
      const stated = { ...state.profiles.get(source)?.stated, ...changes };
      return { ...state, profiles: new Map(state.profiles).set(source, { observed_at, stated }) };
    }
  }
};

export const socialPage: Decider<SocialPageState, SocialPageEvent> = { initial, evolve };

/** True when the observation is recorded, or too old: older than all that the state holds. */
const isObserved = (
  existing: Link | undefined,
  { observed_at, page_name }: SocialPageLink,
  statement: LinkStatement,
): boolean => {
  if (!existing) return false;
  const { statements } = existing;
  if (statements.get(observed_at) !== statementOf(statement)) {
    return statements.size >= LINK_OBSERVATIONS_MAX && observed_at < oldestOf(existing);
  }
  const isNamedAnew = page_name !== null && page_name !== existing.page_name;
  return observed_at < existing.observed_at || statement.status === 'unlinked' || !isNamedAnew;
};

/**
 * Links, unlinks or quarantines a page of a brand. An observation that changes nothing now is recorded too, because
 * observations arrive in any order: an older one may follow that the newer one takes back.
 */
export const recordPageLink =
  (observation: SocialPageLink, brandId: string) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, observed_at, role: claim, confidence } = observation;
    const existing = state.links.get(brandId);
    const status = !observation.linked
      ? 'unlinked'
      : observation.quarantined === true
        ? 'quarantined'
        : 'linked';
    const statement = { status, claim, confidence } as const;
    if (isObserved(existing, observation, statement)) return [];
    const observed: SocialPageEvent = {
      type: 'PageLinkObserved',
      data: { page_id, brand_id: brandId, ...statement, observed_at },
    };
    if (existing && observed_at < existing.observed_at) return [observed];
    if (status === 'unlinked') {
      return existing === undefined || existing.status === 'unlinked'
        ? [observed]
        : [{ type: 'PageUnlinked', data: { page_id, brand_id: brandId, observed_at } }];
    }
    const page_name = observation.page_name ?? existing?.page_name ?? null;
    const same =
      existing?.status === status &&
      existing.claim === claim &&
      existing.confidence === confidence &&
      existing.page_name === page_name;
    if (same) return [observed];
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
