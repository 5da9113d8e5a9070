import type { PageLinkStatus, PageProfile, SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import {
  type PageClaim,
  servableRole,
  type SocialPageLink,
} from '#contracts/observations/social-page-link.ts';
import type { SocialPageProfile } from '#contracts/observations/social-page-profile.ts';
import { compareFields, type FieldTimes, isNews, withoutBlanks, withTimes } from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { PersistentMap } from '../persistent-map.ts';

type Link = {
  readonly claim: PageClaim;
  readonly confidence: number;
  readonly page_name: string | null;
  /** `null` without a name. */
  readonly named_at: string | null;
  readonly observed_at: string;
  readonly status: PageLinkStatus;
  /** Newest observations, by time. */
  readonly statements: ReadonlyMap<string, string>;
};

/** With the source's claim. */
type LinkStatement = {
  readonly status: PageLinkStatus;
  readonly claim: PageClaim;
  readonly confidence: number;
};

/** Observations older than all of these are ignored. */
const LINK_OBSERVATIONS_MAX = 400;

type SourceProfile = { readonly stated: Partial<PageProfile>; readonly times: FieldTimes };
const NO_PROFILE: SourceProfile = { stated: {}, times: {} };

export type SocialPageState = {
  readonly links: PersistentMap<Link>;
  readonly profiles: ReadonlyMap<string, SourceProfile>;
};

const initial: SocialPageState = { links: PersistentMap.empty(), profiles: new Map() };

const statementOf = ({ status, claim, confidence }: LinkStatement): string =>
  status === 'unlinked' ? status : `${status} ${claim} ${confidence}`;

const oldestOf = ({ statements }: Link): string =>
  [...statements.keys()].reduce((oldest, time) => (time < oldest ? time : oldest));

/** Includes its time. */
const newestName = (
  existing: Link | undefined,
  page_name: string | null,
  named_at: string,
): Pick<Link, 'page_name' | 'named_at'> =>
  page_name === null || (existing?.named_at != null && named_at < existing.named_at)
    ? { page_name: existing?.page_name ?? null, named_at: existing?.named_at ?? null }
    : { page_name, named_at };

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
      const { brand_id, role, claim = role, confidence, observed_at } = event.data;
      const { page_name, named_at = observed_at } = event.data;
      const name = newestName(state.links.get(brand_id), page_name, named_at);
      const link = { claim, confidence, ...name, observed_at, status: 'linked' } as const;
      return withLink(state, brand_id, link, observed_at, link);
    }
    case 'PageLinkQuarantined': {
      const { brand_id, claim, confidence, page_name, observed_at, named_at = observed_at } = event.data;
      const name = newestName(state.links.get(brand_id), page_name, named_at);
      const link = { claim, confidence, ...name, observed_at, status: 'quarantined' } as const;
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
      const { brand_id, observed_at, status, claim, confidence, page_name = null } = event.data;
      const existing = state.links.get(brand_id);
      const name = newestName(existing, page_name, observed_at);
      const link = existing ?? { status, claim, confidence, observed_at };
      const newest = observed_at > link.observed_at ? observed_at : link.observed_at;
      return withLink(state, brand_id, { ...link, ...name, observed_at: newest }, observed_at, event.data);
    }
    case 'PageProfileObserved': {
      const { source, observed_at, changes, confirmed } = event.data;
      const existing = state.profiles.get(source) ?? NO_PROFILE;
      const stated = { ...existing.stated, ...changes };
      const times = withTimes(existing.times, observed_at, Object.keys(changes), confirmed);
      return { ...state, profiles: new Map(state.profiles).set(source, { stated, times }) };
    }
  }
};

export const socialPage: Decider<SocialPageState, SocialPageEvent> = { initial, evolve };

/** Recorded, or older than all that the state has. */
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

/** Records unchanged observations too: an older one may follow that the newer one takes back. */
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
      data: {
        page_id,
        brand_id: brandId,
        ...statement,
        observed_at,
        ...(observation.page_name === null ? {} : { page_name: observation.page_name }),
      },
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
    const namedAt = observation.page_name === null ? existing?.named_at : null;
    const about = {
      page_id,
      page_name,
      brand_id: brandId,
      confidence,
      observed_at,
      ...(namedAt == null ? {} : { named_at: namedAt }),
    };
    if (status === 'quarantined') return [{ type: 'PageLinkQuarantined', data: { ...about, claim } }];
    const role = servableRole(claim, confidence);
    return [{ type: 'PageLinked', data: { ...about, role, ...(role === claim ? {} : { claim }) } }];
  };

const statedFields = (profile: SocialPageProfile): Partial<PageProfile> => {
  const { page_name, username, category, verified, followers, likes } = profile;
  return withoutBlanks({ page_name, username, category, verified, followers, likes });
};

/** The source's newest profile that states a field counts. Sources may disagree, so they are not compared. */
export const recordPageProfile =
  (profile: SocialPageProfile) =>
  (state: SocialPageState): SocialPageEvent[] => {
    const { page_id, source, observed_at } = profile;
    const { stated: values, times } = state.profiles.get(source) ?? NO_PROFILE;
    // The read model names the page by the name that sorts first, if several have the same time.
    const compared = compareFields({ values, times }, statedFields(profile), observed_at, ['page_name']);
    if (!isNews(compared)) return [];
    // The newest name from any source names the page, so it needs its newest time.
    const { changes, confirmed } = compared;
    const fields = confirmed?.includes('page_name')
      ? {
          changes: { page_name: profile.page_name, ...changes },
          confirmed: confirmed.filter((field) => field !== 'page_name'),
        }
      : compared;
    return [{ type: 'PageProfileObserved', data: { page_id, source, observed_at, ...fields } }];
  };
