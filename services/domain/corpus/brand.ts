import type { BrandDetails, BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { categoryPathOf } from './category.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf, brandSlugOf } from '../ids.ts';

/**
 * Aggregate brand, stream `brand-<brandId>`: the name, category and profile of one brand.
 * Parts, in order: state, evolve, decisions (`recordBrandProfile`, `registerBrand`).
 */

/** A brand's profile; `null` when the brand is not registered. */
export type BrandState = {
  readonly details: BrandDetails;
  /** Time of the newest profile; `null` when none has described the brand. */
  readonly observed_at: string | null;
} | null;

const initial = null as BrandState;

/** True for a brand that was registered by its domain alone, without a profile. */
const isUndescribed = (
  domain: string,
  { name, description, logo_url, country, category_path }: BrandDetails,
) =>
  name === domain &&
  description === null &&
  logo_url === null &&
  country === null &&
  category_path.length === 0;

const evolve = (state: BrandState, event: BrandEvent): BrandState => {
  switch (event.type) {
    case 'BrandRegistered': {
      const { brand_id: _id, domain, slug: _slug, observed_at, ...details } = event.data;
      return { details, observed_at: isUndescribed(domain, details) ? null : observed_at };
    }
    case 'BrandProfileChanged':
      return (
        state && {
          details: { ...state.details, ...event.data.changes },
          observed_at: event.data.observed_at,
        }
      );
  }
};

export const brand: Decider<BrandState, BrandEvent> = { initial, evolve };

/** Returns the fields that a profile states; blanks are left out. */
const statedFields = (profile: BrandProfile): Partial<BrandDetails> => ({
  name: profile.name,
  ...(profile.description === null ? {} : { description: profile.description }),
  ...(profile.url === null ? {} : { url: profile.url }),
  ...(profile.logo_url === null ? {} : { logo_url: profile.logo_url }),
  ...(profile.country === null ? {} : { country: profile.country }),
  ...(profile.category_path === null ? {} : { category_path: categoryPathOf(profile.category_path) }),
  ...(profile.is_public === null ? {} : { is_public: profile.is_public }),
  ...(profile.indexable === null ? {} : { indexable: profile.indexable }),
});

const registration = (domain: string, observedAt: string, stated: Partial<BrandDetails>): BrandEvent => ({
  type: 'BrandRegistered',
  data: {
    brand_id: brandIdOf(domain),
    domain,
    slug: brandSlugOf(domain),
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
  },
});

/** Registers or changes the brand. A profile older than the newest one fills no blank and overwrites nothing. */
export const recordBrandProfile =
  (profile: BrandProfile) =>
  (state: BrandState): BrandEvent[] => {
    const stated = statedFields(profile);
    if (state === null) return [registration(profile.domain, profile.observed_at, stated)];
    if (state.observed_at !== null && profile.observed_at < state.observed_at) return [];
    const existing = state.details as Readonly<Record<string, unknown>>;
    const changes = Object.fromEntries(
      Object.entries(stated).filter(
        ([field, value]) => JSON.stringify(existing[field]) !== JSON.stringify(value),
      ),
    );
    if (Object.keys(changes).length === 0) return [];
    return [
      {
        type: 'BrandProfileChanged',
        data: { brand_id: brandIdOf(profile.domain), observed_at: profile.observed_at, changes },
      },
    ];
  };

/** Registers a brand by its domain when a scan, a link of a page or a storefront names it before any profile does. */
export const registerBrand =
  (domain: string, observedAt: string) =>
  (state: BrandState): BrandEvent[] =>
    state === null ? [registration(domain, observedAt, {})] : [];
