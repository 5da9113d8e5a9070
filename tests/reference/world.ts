/** Names are short (`b1.example`, ad `a1`, page `P1`, scan `s1`), times ISO 8601 in UTC, days `YYYY-MM-DD`. */

/** `null` and blank texts mean that the scan does not show the field. */
export type ShownAd = {
  readonly ad: string;
  readonly page: string | null;
  readonly isActive: boolean | null;
  readonly startedOn: string | null;
  readonly stoppedOn: string | null;
  readonly body: string | null;
  readonly title: string | null;
  readonly caption: string | null;
  /** Destination as host and path: `shop.b1.example/sale`. */
  readonly link: string | null;
  /** Countries in which the library shows the ad to run. Absent when the source does not say. */
  readonly countries?: readonly string[];
};

export type Scan = {
  readonly kind: 'scan';
  readonly id: string;
  readonly at: string;
  /** Domain of the brand that the scan was made for. */
  readonly brand: string;
  readonly complete: boolean;
  readonly pages: readonly string[];
  /** Requested countries; `ALL` is a country of its own. */
  readonly countries: readonly string[];
  readonly collector: string;
  readonly ads: readonly ShownAd[];
};

/** A page was observed to belong with a brand, or no longer to. At most one for a page, brand and time. */
export type PageLink = {
  readonly kind: 'link';
  readonly at: string;
  readonly brand: string;
  readonly page: string;
  readonly confidence: number;
  readonly linked: boolean;
};

/** A profile of a brand; the first one registers its domain, as the first scan for it and the first link of a page do. */
export type Profile = {
  readonly kind: 'profile';
  readonly at: string;
  readonly brand: string;
  /** Names from the top level down. All brands of a world are in one top-level category. */
  readonly category: readonly string[];
};

export type WorldObservation = Scan | PageLink | Profile;

export type World = {
  /** Domains of the brands, in the order of the brands' ids. */
  readonly brands: readonly string[];
  /** In the order in which they arrive. The same observation may arrive several times. */
  readonly observations: readonly WorldObservation[];
};

export type AdFigures = {
  readonly brand: string;
  readonly status: 'active' | 'missing' | 'inactive';
  readonly page: string | null;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly novelty: 'baseline' | 'news' | 'late' | null;
  /** Time of the scan that completed the stop; `null` unless the ad is inactive. */
  readonly inactive_since: string | null;
  readonly started_on: string | null;
  readonly stopped_on: string | null;
  readonly days_active: number | null;
  readonly countries: readonly string[];
  readonly body: string | null;
  readonly title: string | null;
  readonly caption: string | null;
  readonly link: string | null;
};

/** Counts of a brand's ads; `active` are those seen by the last covering scan, without the missing ones. */
export type BrandFigures = {
  readonly active: number;
  readonly missing: number;
  readonly inactive: number;
  readonly total: number;
};

/** A brand's day; `active` counts every ad that was not inactive after the day's last scan of the brand. */
export type DayFigures = {
  readonly active: number;
  readonly new: number;
  readonly retired: number;
  readonly reliable: boolean;
};

/** Counts each ad and scan once: by the brand, and by another collector (rule 6). Days without any have no figures. */
export type ChangeFigures = { readonly revised: number; readonly reworded: number };

/** Freshness of a brand: times of scans that were made for it, or are reliable for it (rule 9). */
export type FreshnessFigures = {
  readonly as_of: string;
  readonly last_reliable_at: string | null;
  readonly next_due: string;
  readonly freshness_tier: string;
};

export type WeekFigures = {
  readonly active: number;
  readonly new: number;
  readonly retired: number;
  readonly reliable_days: number;
};

/** Figures that a brand shows next to its counts; the last 7 and 30 days end with the day of its last look. */
export type ProfileFigures = {
  /** Time of the last scan that looked at the brand, as each read model of its days names it; `null` before the first. */
  readonly as_of: {
    readonly brands: string | null;
    readonly days: string | null;
    readonly weeks: string | null;
  };
  readonly new_7d: number;
  readonly new_30d: number;
  readonly retired_7d: number;
  readonly retired_30d: number;
  readonly avg_lifespan: number | null;
  readonly last_ad_seen_on: string | null;
  /** Ads that are not inactive, by country that they name, most ads first. */
  readonly countries: readonly { readonly country: string; readonly ads: number }[];
};

export type RadarFigures = {
  /** The brand that the ad had at the scan. */
  readonly brand: string;
  /** New destination of a changed one, or the destination of a start. */
  readonly to: string | null;
  readonly from: string | null;
  readonly basis: 'library' | 'absence' | null;
  readonly stopped_on: string | null;
};

export type CategoryFigures = {
  readonly brands: number;
  /** Ads that are not inactive. */
  readonly active: number;
  readonly total: number;
  readonly children: number;
  /** Time of the newest observation of its brands; `null` without any. */
  readonly as_of: string | null;
};

/** Time of the newest scan of the corpus, which no brand of a world has. Lists over all brands end with its day. */
export const NEWEST_SCAN_AT = '2026-03-23T23:00:00.000Z';
export const NEW_ADVERTISER_DAYS = 10;

export type NewAdvertiserFigures = {
  readonly started_on: string;
  readonly active: number;
  readonly rank: number;
};

/** A brand in the list of risers of the world's category: active ads on two reliable days. */
export type RiserFigures = {
  readonly day: string;
  readonly previous_day: string;
  readonly active: number;
  readonly previous: number;
};

export type SignalFigures = {
  readonly items: number;
  readonly observed_at: string;
};

/** Figures by ad, by brand, and by `<brand> <day>`. Days without an observation of the brand have no figures. */
export type Figures = {
  readonly ads: Readonly<Record<string, AdFigures>>;
  readonly brands: Readonly<Record<string, BrandFigures>>;
  readonly days: Readonly<Record<string, DayFigures>>;
  /** By `<brand> <day>`. */
  readonly changes: Readonly<Record<string, ChangeFigures>>;
  /** By brand; none for a brand without such a scan. */
  readonly freshness: Readonly<Record<string, FreshnessFigures>>;
  /** By `<brand> <Monday>`. */
  readonly weeks: Readonly<Record<string, WeekFigures>>;
  readonly profiles: Readonly<Record<string, ProfileFigures>>;
  /** By `<ad> <type> <time>`. */
  readonly radar: Readonly<Record<string, RadarFigures>>;
  /** By the names of the category and of those above it. */
  readonly categories: Readonly<Record<string, CategoryFigures>>;
  readonly newAdvertisers: Readonly<Record<string, NewAdvertiserFigures>>;
  /** By brand; only of those in `comparedRisers`. */
  readonly risers: Readonly<Record<string, RiserFigures>>;
  /** By `<brand> <day> <kind>`. */
  readonly signals: Readonly<Record<string, SignalFigures>>;
};
