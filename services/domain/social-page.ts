import type { SocialPageFact } from '#contracts/events/social-page.ts';
import type { PageRole, SocialPageLink } from '#contracts/observations/social-page-link.ts';

type Link = {
  readonly role: PageRole;
  readonly confidence: number;
  readonly page_name: string | null;
  readonly observed_at: string;
  readonly linked: boolean;
};

/** Brand id to what was last observed of the page's link with it. */
export type SocialPageState = ReadonlyMap<string, Link>;

export const socialPage = {
  initial: new Map() as SocialPageState,
  evolve: (state: SocialPageState, fact: SocialPageFact): SocialPageState => {
    switch (fact.type) {
      case 'PageLinked': {
        const { brand_id, role, confidence, page_name, observed_at } = fact.data;
        return new Map(state).set(brand_id, { role, confidence, page_name, observed_at, linked: true });
      }
      case 'PageUnlinked': {
        const link = state.get(fact.data.brand_id);
        if (!link) return state;
        return new Map(state).set(fact.data.brand_id, {
          ...link,
          linked: false,
          observed_at: fact.data.observed_at,
        });
      }
    }
  },
};

/** Links and unlinks; an observation older than the last one of the same pair changes nothing. */
export const recordPageLink =
  (observation: SocialPageLink, brandId: string) =>
  (state: SocialPageState): SocialPageFact[] => {
    const { page_id, observed_at, role, confidence } = observation;
    const known = state.get(brandId);
    if (known && observed_at < known.observed_at) return [];
    if (!observation.linked) {
      return known?.linked
        ? [{ type: 'PageUnlinked', data: { page_id, brand_id: brandId, observed_at } }]
        : [];
    }
    const pageName = observation.page_name ?? known?.page_name ?? null;
    const same =
      known?.linked && known.role === role && known.confidence === confidence && known.page_name === pageName;
    if (same) return [];
    return [
      {
        type: 'PageLinked',
        data: { page_id, page_name: pageName, brand_id: brandId, role, confidence, observed_at },
      },
    ];
  };
