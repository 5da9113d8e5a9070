/**
 * A world: the observations that a test hands to the service, in the order in which they arrive. Names are short
 * (`b1.example`, ad `a1`, page `P1`, scan `s1`). Times are ISO 8601 in UTC; days are `YYYY-MM-DD`.
 */

/** One ad as one scan shows it. `null` and blank texts mean that the scan does not show the field. */
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
  /** Countries that were requested; `ALL` is a country of its own. */
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
export type Profile = { readonly kind: 'profile'; readonly at: string; readonly brand: string };

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
  /** `null` when the service shows none. */
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

/** Figures by ad, by brand, and by `<brand> <day>`. Days without an observation of the brand have no figures. */
export type Figures = {
  readonly ads: Readonly<Record<string, AdFigures>>;
  readonly brands: Readonly<Record<string, BrandFigures>>;
  readonly days: Readonly<Record<string, DayFigures>>;
};
