import type { BrandDetails, BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { categoryPathOf } from './category.ts';
import { brandIdOf, brandSlugOf } from '../ids.ts';

/** Who a brand is. `null`: never heard of. */
export type BrandState = {
  readonly details: BrandDetails;
  /** When its newest profile was observed; `null` where only a scan named it. */
  readonly observed_at: string | null;
} | null;

/** Registered by its domain: nobody has said anything of it. */
const isUndescribed = (
  domain: string,
  { name, description, logo_url, country, category_path }: BrandDetails,
) =>
  name === domain &&
  description === null &&
  logo_url === null &&
  country === null &&
  category_path.length === 0;

export const brand = {
  initial: null as BrandState,
  evolve: (state: BrandState, event: BrandEvent): BrandState => {
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
  },
};

/** What a profile says, without what it leaves unsaid. */
const saidBy = (profile: BrandProfile): Partial<BrandDetails> => ({
  name: profile.name,
  ...(profile.description === null ? {} : { description: profile.description }),
  ...(profile.url === null ? {} : { url: profile.url }),
  ...(profile.logo_url === null ? {} : { logo_url: profile.logo_url }),
  ...(profile.country === null ? {} : { country: profile.country }),
  ...(profile.category_path === null ? {} : { category_path: categoryPathOf(profile.category_path) }),
  ...(profile.is_public === null ? {} : { is_public: profile.is_public }),
  ...(profile.indexable === null ? {} : { indexable: profile.indexable }),
});

const registration = (domain: string, observedAt: string, said: Partial<BrandDetails>): BrandEvent => ({
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
    ...said,
    observed_at: observedAt,
  },
});

/** A profile older than the newest completes nothing and overwrites nothing. */
export const recordBrandProfile =
  (profile: BrandProfile) =>
  (state: BrandState): BrandEvent[] => {
    const said = saidBy(profile);
    if (state === null) return [registration(profile.domain, profile.observed_at, said)];
    if (state.observed_at !== null && profile.observed_at < state.observed_at) return [];
    const known = state.details as Readonly<Record<string, unknown>>;
    const changes = Object.fromEntries(
      Object.entries(said).filter(([field, value]) => JSON.stringify(known[field]) !== JSON.stringify(value)),
    );
    if (Object.keys(changes).length === 0) return [];
    return [
      {
        type: 'BrandProfileChanged',
        data: { brand_id: brandIdOf(profile.domain), observed_at: profile.observed_at, changes },
      },
    ];
  };

/** A scan names a brand that nobody has described yet: it is registered by its domain. */
export const registerBrand =
  (domain: string, observedAt: string) =>
  (state: BrandState): BrandEvent[] =>
    state === null ? [registration(domain, observedAt, {})] : [];
