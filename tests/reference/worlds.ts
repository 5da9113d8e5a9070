import fc from 'fast-check';
import type { Feature } from './features.ts';
import type { PageLink, Profile, Scan, ShownAd, World, WorldObservation } from './world.ts';

/** Worlds are small, because nearly every fault of a rule shows with a few scans and ads. */

/** The service refuses dates in the future. */
const FIRST_DAY_MS = Date.UTC(2026, 2, 10);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 7;
const ADS_MAX = 4;
const SCANS_MAX = 7;
const PAGES = ['P1', 'P2', 'P3'];
const CATEGORIES = ['Shoes', 'Hats'];
const COUNTRIES = ['US', 'CA', 'GB'];
const DOMAINS = ['b1.example', 'b2.example', 'b3.example', 'b4.example'];
/** Hours in UTC: 19, 20 and 21 hours from 10:00 to the next day's; an absence is confirmed after 20. */
const SCAN_HOURS = [10, 5, 6, 7];
/** Hosts that no brand registers. */
const FOREIGN_HOSTS = ['elsewhere.example', 'apps.apple.com'];
const NEVER = fc.constant(false);
/** Frames of the second collector. None has a word of a text. */
const FRAMES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `Sponsored: ${text}`,
  (text) => `${text} Shop now`,
  (text) => text.toUpperCase(),
];
/** Texts have no word in common, but for one with a price of its own. */
const BODIES = ['Shoes for runners', 'Boots against rain', 'Hats in all sizes'];
const PRICED = 'Shoes for runners 99';

/** Always 0 when the feature is off. */
const nat = (max: number, isOn: boolean): fc.Arbitrary<number> => (isOn ? fc.nat(max) : fc.constant(0));
const oneIn = (times: number, isOn: boolean): fc.Arbitrary<boolean> =>
  isOn ? fc.nat(times - 1).map((value) => value === times - 1) : NEVER;
const someOf = (values: readonly string[], isOn: boolean): fc.Arbitrary<string[]> =>
  isOn ? fc.subarray([...values], { minLength: 1 }) : fc.constant(values.slice(0, 1));

const textOf = (values: readonly string[], changes: boolean, blanks: boolean) =>
  fc
    .tuple(nat(values.length - 1, changes), oneIn(4, blanks), fc.constantFrom(null, '', ' '))
    .map(([index, isBlank, blank]) => (isBlank ? blank : (values[index] ?? null)));

const draftOf = (has: (feature: Feature) => boolean) => {
  const severalPages = has('pages') || has('unnamed-pages');
  const severalBrands = has('brands') || has('shared-pages') || has('moves');
  const severalCountries = has('countries') || has('several-countries-at-once') || has('all-countries');
  const ad = fc.record({
    page: nat(PAGES.length - 1, severalPages || has('shared-pages')),
    isPageless: oneIn(3, has('pageless')),
    // Days from the first day; many ads start between two scans.
    startsAfterDays: fc.integer({ min: -3, max: DAYS }),
    // The one stop date that scans show, in days from the first day; else each shows its own.
    stopsAfterDays: has('ended') ? fc.option(fc.integer({ min: -1, max: DAYS })) : fc.constant(null),
    destination: nat(DOMAINS.length * 2 + FOREIGN_HOSTS.length, has('destinations') || has('moves')),
  });
  const shown = fc.record({
    state: nat(6, has('ended')),
    isFlagUnknown: oneIn(3, true),
    stopsBeforeDays: fc.integer({ min: -1, max: 2 }),
    hidesPage: oneIn(4, has('blanks')),
    hidesStart: oneIn(4, has('blanks')),
    startMoves: nat(2, has('start-dates')),
    body: textOf(has('framing') ? [...BODIES, PRICED] : BODIES, has('content'), has('blanks')),
    isUnframed: oneIn(5, has('framing')),
    title: textOf(['Spring sale', 'New arrivals'], has('content'), has('blanks')),
    caption: textOf(['first.example', 'second.example'], has('captions'), has('blanks')),
    movesTo: nat(DOMAINS.length * 2 + FOREIGN_HOSTS.length, has('moves')),
    hidesLink: oneIn(4, has('blanks')),
    countries: has('ad-countries') ? fc.option(fc.subarray(COUNTRIES)) : fc.constant(null),
  });
  const scan = fc.record({
    day: fc.nat(DAYS - 1),
    week: nat(1, has('weeks')),
    hour: fc.nat(SCAN_HOURS.length - 1),
    brand: nat(DOMAINS.length - 1, severalBrands),
    isPartial: oneIn(3, has('partial')),
    pages: someOf(PAGES, severalPages || has('shared-pages')),
    namesNoPage: oneIn(3, has('unnamed-pages')),
    country: nat(COUNTRIES.length - 1, severalCountries),
    moreCountries: has('several-countries-at-once') ? fc.subarray(COUNTRIES) : fc.constant([]),
    asksAll: oneIn(3, has('all-countries')),
    collector: nat(1, has('collectors') || has('framing')),
    frame: nat(FRAMES.length - 1, has('framing')),
    // Each ad is absent once in three scans, so that stops and returns are frequent.
    shown: fc.array(fc.option(shown, { freq: 3 }), { minLength: ADS_MAX, maxLength: ADS_MAX }),
    delay: nat(20, has('late-scans')),
    repeatDelay: has('repeats') ? fc.option(fc.nat(20)) : fc.constant(null),
  });
  const link = fc.record({
    day: nat(DAYS - 1, has('changing-links')),
    hour: nat(2, has('links-within-days')),
    brand: nat(DOMAINS.length - 1, severalBrands),
    page: nat(PAGES.length - 1, severalPages || has('shared-pages')),
    confidence: fc.constantFrom(0.9, 0.6),
    ends: oneIn(3, has('changing-links')),
    delay: nat(20, has('late-links')),
  });
  return fc.record({
    // Most worlds stay within a week, so that absences follow each other closely.
    hasWeeks: oneIn(3, has('weeks')),
    brands: severalBrands ? fc.integer({ min: 1, max: DOMAINS.length }) : fc.constant(1),
    ads: fc.array(ad, { minLength: 1, maxLength: ADS_MAX }),
    scans: fc.array(scan, { minLength: 1, maxLength: SCANS_MAX }),
    links:
      has('links') || has('changing-links')
        ? fc.array(link, { maxLength: 4 })
        : fc.array(link, { maxLength: 0 }),
    profileDays: fc.array(nat(DAYS, has('late-registration')), {
      minLength: DOMAINS.length,
      maxLength: DOMAINS.length,
    }),
    profileDelay: nat(20, has('late-links')),
    renewals: fc.array(
      fc.record({
        day: fc.nat(DAYS - 1),
        brand: nat(DOMAINS.length - 1, severalBrands),
        category: fc.nat(CATEGORIES.length),
        delay: nat(20, has('late-links')),
      }),
      { maxLength: has('renewed-profiles') ? 2 : 0 },
    ),
  });
};

type Draft = ReturnType<typeof draftOf> extends fc.Arbitrary<infer T> ? T : never;
type AdDraft = Draft['ads'][number];
type ScanDraft = Draft['scans'][number];
type ShownDraft = NonNullable<ScanDraft['shown'][number]>;

const timeOf = (day: number, hour: number, minute: number): string =>
  new Date(FIRST_DAY_MS + day * DAY_MS + hour * HOUR_MS + minute * 60_000).toISOString();
const dateAfter = (days: number): string => timeOf(days, 0, 0).slice(0, 10);

/** Destinations by number: none, then the domain and a subdomain of each brand, then hosts of no brand. */
const linkOf = (number: number): string | null =>
  [
    null,
    ...DOMAINS.flatMap((domain) => [`${domain}/a`, `shop.${domain}/b`]),
    ...FOREIGN_HOSTS.map((host) => `${host}/c`),
  ][number] ?? null;

const framed = (shown: ShownAd, frame: number): ShownAd => {
  const within = (text: string | null): string | null =>
    text === null || text.trim() === '' ? text : (FRAMES[frame]?.(text) ?? text);
  return { ...shown, body: within(shown.body), title: within(shown.title) };
};

const categoryOf = (number: number): readonly string[] => [
  'Shops',
  ...(CATEGORIES[number] ? [CATEGORIES[number]] : []),
];

export const worldArbitrary = (features: readonly Feature[]): fc.Arbitrary<World> => {
  const has = (feature: Feature): boolean => features.includes(feature);
  return draftOf(has).map((draft) => worldOf(draft, has));
};

const worldOf = (draft: Draft, has: (feature: Feature) => boolean): World => {
  const brands = DOMAINS.slice(0, draft.brands);
  const brandOf = (number: number): string => brands[number % brands.length] ?? '';
  const isShared = has('shared-pages') || brands.length === 1;
  /** Pages of one brand only, unless pages are shared. */
  const pageOf = (number: number, brand: number): string =>
    isShared ? (PAGES[number] ?? '') : `P${(brand % brands.length) * PAGES.length + number + 1}`;

  const scanOf = (scan: ScanDraft, index: number): Scan => {
    const minute = has('ties') ? 0 : index;
    const day = scan.day + (draft.hasWeeks ? scan.week * DAYS : 0);
    const named = scan.namesNoPage ? [] : scan.pages.map((page) => pageOf(PAGES.indexOf(page), scan.brand));
    const ads = scan.shown.flatMap((shown, number) => {
      const ad = draft.ads[number];
      if (!shown || !ad) return [];
      const page = pageOf(ad.page, isShared ? 0 : number);
      const isNamed = named.includes(page) || (ad.isPageless && has('pageless'));
      if (!isNamed && !has('unnamed-pages')) return [];
      const one = shownOf(ad, shown, `a${number + 1}`, page, day);
      const isFramed = scan.collector === 1 && !shown.isUnframed;
      return [isFramed ? framed(one, scan.frame) : one];
    });
    const countries = [COUNTRIES[scan.country] ?? '', ...scan.moreCountries];
    return {
      kind: 'scan',
      id: `s${String(index + 1).padStart(2, '0')}`,
      at: timeOf(day, SCAN_HOURS[scan.hour] ?? 0, minute),
      brand: brandOf(scan.brand),
      complete: !scan.isPartial,
      pages: named,
      countries: scan.asksAll ? ['ALL'] : [...new Set(countries)].toSorted(),
      collector: `c${scan.collector + 1}`,
      ads,
    };
  };
  const shownOf = (ad: AdDraft, shown: ShownDraft, id: string, page: string, day: number): ShownAd => {
    // States 5 and 6 are ended: by the flag, and by a stop date with the flag unknown.
    const byFlag = shown.state === 5;
    const byDate = shown.state === 6;
    const link = linkOf(has('moves') ? shown.movesTo : ad.destination);
    const stopsOn = dateAfter(ad.stopsAfterDays ?? day - shown.stopsBeforeDays);
    return {
      ad: id,
      page: ad.isPageless || shown.hidesPage ? null : page,
      isActive: byFlag ? false : byDate || shown.isFlagUnknown ? null : true,
      startedOn: shown.hidesStart ? null : dateAfter(ad.startsAfterDays + shown.startMoves),
      stoppedOn: byDate || (byFlag && shown.isFlagUnknown) ? stopsOn : null,
      body: shown.body,
      title: shown.title,
      caption: shown.caption,
      link: shown.hidesLink ? null : link,
      ...(shown.countries === null ? {} : { countries: shown.countries }),
    };
  };

  const profiles = brands.map((brand, index): Delayed => {
    const day = draft.profileDays[index] ?? 0;
    const profile: Profile = {
      kind: 'profile',
      at: timeOf(day - 1, 1, index),
      brand,
      category: categoryOf(index % CATEGORIES.length),
    };
    return { observation: profile, delay: draft.profileDelay };
  });
  const renewals = draft.renewals.map(({ day, brand, category, delay }, index): Delayed => {
    const profile: Profile = {
      kind: 'profile',
      at: timeOf(day, 3, index),
      brand: brandOf(brand),
      category: categoryOf(category),
    };
    return { observation: profile, delay };
  });
  const links = draft.links.map((link, index): Delayed => {
    const hour = has('links-within-days') ? [2, 6, 8][link.hour] : 2;
    const pageLink: PageLink = {
      kind: 'link',
      at: timeOf(link.day, hour ?? 2, 30 + index),
      brand: brandOf(link.brand),
      page: pageOf(link.page, link.brand),
      confidence: link.confidence,
      linked: !link.ends,
    };
    return { observation: pageLink, delay: link.delay };
  });
  const scans = draft.scans.map((scan, index): Delayed & { repeatDelay: number | null } => ({
    observation: scanOf(scan, index),
    delay: scan.delay,
    repeatDelay: scan.repeatDelay,
  }));
  const repeats = scans.flatMap(({ observation, delay, repeatDelay }): Delayed[] =>
    repeatDelay === null ? [] : [{ observation, delay: delay + repeatDelay }],
  );
  return { brands, observations: inArrival([...profiles, ...renewals, ...links, ...scans, ...repeats]) };
};

/** An observation, and by how many places it arrives later than in chronological order. */
type Delayed = { readonly observation: WorldObservation; readonly delay: number };

const keyOf = (observation: WorldObservation): string =>
  `${observation.at} ${observation.kind === 'scan' ? observation.id : ''}`;

const inArrival = (delayed: readonly Delayed[]): WorldObservation[] =>
  delayed
    .toSorted((a, b) => (keyOf(a.observation) < keyOf(b.observation) ? -1 : 1))
    .map(({ observation, delay }, index) => ({ observation, place: index + delay }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ observation }) => observation);
