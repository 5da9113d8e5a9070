import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `traffic-<domain>`: a provider's estimates of a site's visitors. */
export const TRAFFIC = 'traffic';
export const trafficStream = (domain: string): string => `${TRAFFIC}-${domain}`;

export type CountryShare = { readonly country: string; readonly share: number };

/** Shares of visitors, 0 to 1. `null` when the provider does not give the share. */
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
  /** Derived from the domain; the brand may not be registered yet. */
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
  /** Highest affinity first. */
  readonly similar_sites: readonly SimilarSite[];
};

export type TrafficEstimated = Event<
  'TrafficEstimated',
  {
    readonly domain: string;
    readonly brand_id: string;
    /** The day, or the first day of the month. */
    readonly date: string;
    readonly provider: string;
    readonly observed_at: string;
    readonly figures: Partial<TrafficFigures>;
    /** Figures that are stated unchanged at a later time. Absent: none. */
    readonly confirmed?: readonly (keyof TrafficFigures)[];
  }
>;

export type TrafficEvent = TrafficEstimated;

export const trafficVersions: EventVersions<TrafficEvent> = { TrafficEstimated: [] };
