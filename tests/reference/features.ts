/** Traits of generated worlds, each of which can be switched on by itself. Without any, worlds are of the plainest kind. */
export const FEATURES = [
  /** Scans of two weeks. */
  'weeks',
  /** Scans that did not read the library to its end. */
  'partial',
  'ended',
  /** Several countries; each scan requests one. */
  'countries',
  'several-countries-at-once',
  'all-countries',
  /** Ads that name the countries in which they run. */
  'ad-countries',
  /** Several pages in one world, and scans that name some of them. */
  'pages',
  /** Scans that show ads of pages that they do not name. */
  'unnamed-pages',
  'pageless',
  'brands',
  /** Scans for any brand on any page, and pages with ads of several brands. */
  'shared-pages',
  /** Links of pages with brands, all before the first scan and never changed. */
  'links',
  'changing-links',
  'links-within-days',
  /** Ads that name the domain of a brand as their destination. */
  'destinations',
  /** Destinations that move from one brand's domain to another's. */
  'moves',
  /** Brands whose domain is registered after the first scan. */
  'late-registration',
  /** Brands with later profiles, some of which name another category. */
  'renewed-profiles',
  'content',
  'captions',
  /** Fields that some scans do not show: page, start date and copy among them. */
  'blanks',
  'start-dates',
  'collectors',
  /** Two collectors, of which the second shows the copy of most ads with a label, or in upper case. */
  'framing',
  /** Scans of the same time. */
  'ties',
  'repeats',
  'late-scans',
  /** Links and profiles that arrive after later observations. */
  'late-links',
] as const;

export type Feature = (typeof FEATURES)[number];
