import type { Event } from '../event.ts';

/** Stream `traffic-<domain>`: what a provider estimates of a site's visitors. */
export const TRAFFIC = 'traffic';
export const trafficStream = (domain: string): string => `${TRAFFIC}-${domain}`;

export type CountryShare = { readonly country: string; readonly share: number };

/** Shares of visitors, 0 to 1; `null` where the provider does not say. */
export type Demographics = {
  readonly female: number | null;
  readonly male: number | null;
  readonly age_18_24: number | null;
  readonly age_25_34: number | null;
  readonly age_35_44: number | null;
  readonly age_45_54: number | null;
  readonly age_55_64: number | null;
  readonly age_65_plus: number | null;
};

export type SimilarSite = {
  readonly domain: string;
  /** The brand of that domain, if it is or becomes one. */
  readonly brand_id: string;
  readonly affinity: number;
  readonly provider_category: string | null;
};

export type TrafficFigures = {
  readonly monthly_visits: number;
  readonly global_ranking: number;
  readonly category_ranking: number;
  readonly provider_category: string;
  /** Largest share first. */
  readonly countries: readonly CountryShare[];
  readonly demographics: Demographics;
  /** Most alike first. */
  readonly similar_sites: readonly SimilarSite[];
};

/** Of one month or day, only the figures that are new or other than known for it. */
export type TrafficEstimated = Event<
  'TrafficEstimated',
  {
    readonly domain: string;
    /** The brand of this domain, if it is or becomes one. */
    readonly brand_id: string;
    /** The day, or the first of the month. */
    readonly date: string;
    readonly provider: string;
    readonly observed_at: string;
    readonly figures: Partial<TrafficFigures>;
  }
>;

export type TrafficEvent = TrafficEstimated;
