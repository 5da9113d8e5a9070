import type { BrandDetails, BrandEvent, BrandField, CategoryOnPath } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { categoryPathOf } from './category.ts';
import {
  compareFields,
  earlierOf,
  type FieldTimes,
  isNews,
  withoutBlanks,
  withTimes,
} from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf } from '../ids.ts';

export type BrandState = {
  readonly details: BrandDetails;
  /** Fields that no profile states have no time; they hold defaults. */
  readonly times: FieldTimes;
  readonly first_observed_at: string;
  /** With the time of the oldest profile. */
  readonly named: FieldTimes;
} | null;

const initial = null as BrandState;

const withNamed = (named: FieldTimes, path: readonly CategoryOnPath[], observedAt: string): FieldTimes => ({
  ...named,
  ...Object.fromEntries(path.map(({ id }) => [id, earlierOf(named[id] ?? null, observedAt)])),
});

const evolve = (state: BrandState, event: BrandEvent): BrandState => {
  switch (event.type) {
    case 'BrandRegistered': {
      const { brand_id: _id, domain: _domain, slug: _slug, observed_at, stated, ...details } = event.data;
      return {
        details,
        times: withTimes({}, observed_at, stated ?? []),
        first_observed_at: observed_at,
        named: withNamed({}, details.category_path, observed_at),
      };
    }
    case 'BrandProfileChanged': {
      const { observed_at, changes, confirmed, replaced_category_path } = event.data;
      const path = changes.category_path ?? replaced_category_path ?? [];
      return (
        state && {
          details: { ...state.details, ...changes },
          times: withTimes(state.times, observed_at, Object.keys(changes), confirmed),
          first_observed_at: earlierOf(state.first_observed_at, observed_at),
          named: withNamed(state.named, path, observed_at),
        }
      );
    }
  }
};

export const brand: Decider<BrandState, BrandEvent> = { initial, evolve };

const statedFields = (profile: BrandProfile): Partial<BrandDetails> => {
  const { type: _type, domain: _domain, observed_at: _at, category_path, ...fields } = profile;
  return {
    ...withoutBlanks(fields),
    ...(category_path === null ? {} : { category_path: categoryPathOf(category_path) }),
  };
};

const registration = (
  domain: string,
  slug: string,
  observedAt: string,
  stated: Partial<BrandDetails> | null,
): BrandEvent => ({
  type: 'BrandRegistered',
  data: {
    brand_id: brandIdOf(domain),
    domain,
    slug,
    name: domain,
    description: null,
    url: `https://${domain}`,
    logo_url: null,
    country: null,
    category_path: [],
    is_public: true,
    indexable: true,
    ...stated,
    observed_at: observedAt,
    ...(stated === null ? {} : { stated: Object.keys(stated) as BrandField[] }),
  },
});

/** No profile names one of the categories, or only later ones do. */
const isNamedEarlier = (path: readonly CategoryOnPath[], observedAt: string, named: FieldTimes): boolean =>
  path.some(({ id }) => earlierOf(named[id] ?? null, observedAt) !== named[id]);

/**
 * Each field has the value of the newest profile that states it. Without a newer or older time, records nothing. `slug`:
 * reserved for a brand that is not registered; `null` for any other.
 */
export const recordBrandProfile =
  (profile: BrandProfile, slug: string | null) =>
  (state: BrandState): BrandEvent[] => {
    const { domain, observed_at } = profile;
    const stated = statedFields(profile);
    if (state === null) {
      if (slug === null) throw new Error(`no slug is reserved for ${domain}`);
      return [registration(domain, slug, observed_at, stated)];
    }
    const compared = compareFields({ values: state.details, times: state.times }, stated, observed_at);
    const path = compared.changes.category_path === undefined ? (stated.category_path ?? []) : [];
    const names = isNamedEarlier(path, observed_at, state.named);
    if (!isNews(compared) && !names && observed_at >= state.first_observed_at) return [];
    return [
      {
        type: 'BrandProfileChanged',
        data: {
          brand_id: brandIdOf(domain),
          observed_at,
          ...compared,
          ...(names ? { replaced_category_path: path } : {}),
        },
      },
    ];
  };

/** A scan, a link or a storefront may name a brand before any profile does. */
export const registerBrand =
  (domain: string, slug: string, observedAt: string) =>
  (state: BrandState): BrandEvent[] =>
    state === null ? [registration(domain, slug, observedAt, null)] : [];
