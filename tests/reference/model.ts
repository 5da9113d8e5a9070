import type {
  AdFigures,
  BrandFigures,
  DayFigures,
  Figures,
  PageLink,
  Scan,
  ShownAd,
  World,
} from './world.ts';

/**
 * Reference model of the ad library: computes from the set of observations the figures of each ad, brand and day. It
 * follows the rules of the ad library (services/domain/README.md) in the plainest way, without events and tables, and
 * knows nothing of the service. Comments that begin with "Decision" settle a point that the rules leave open.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Minimum milliseconds between the first absence of an ad and the one that confirms its stop (rule 1). */
const ABSENCE_CONFIRMS_AFTER_MS = 20 * HOUR_MS;

const dayOf = (time: string): string => time.slice(0, 10);
const dayBefore = (time: string): string => dayOf(new Date(Date.parse(time) - DAY_MS).toISOString());
const isBlank = (text: string | null): boolean => text === null || text.trim() === '';

/** Chronological order. Decision: scans of one time are walked in the order of their ids (rule 11). */
const byTime = (a: Scan, b: Scan): number => (a.at + a.id < b.at + b.id ? -1 : 1);

/** Returns the scans of the world, each once, in chronological order. */
const scansOf = ({ observations }: World): Scan[] => {
  const scans = observations.filter((observation): observation is Scan => observation.kind === 'scan');
  return [...new Map(scans.map((scan) => [scan.id, scan])).values()].toSorted(byTime);
};

const shows = (scan: Scan, ad: string): ShownAd | undefined => scan.ads.find((shown) => shown.ad === ad);

/** Decision: `ALL` is a country of its own that only a scan of `ALL` covers; such a scan covers every country. */
const coversCountry = (scan: Scan, country: string): boolean =>
  scan.countries.includes(country) || scan.countries.includes('ALL');
const coversPair = (scan: Scan, page: string, country: string): boolean =>
  scan.complete && scan.pages.includes(page) && coversCountry(scan, country);

/** True when the library shows the ad as ended: by its flag, else by a stop date not after the scan (rules 1, 7). */
const isEnded = (shown: ShownAd, scan: Scan): boolean =>
  shown.isActive === false ||
  (shown.isActive === null && shown.stoppedOn !== null && shown.stoppedOn <= dayOf(scan.at));

/** Returns the value of the latest of these scans that showed the field non-blank (rule 4). */
const latest = (ad: string, scans: readonly Scan[], field: keyof ShownAd): string | null => {
  const values = scans.map((scan) => shows(scan, ad)?.[field] ?? null) as (string | null)[];
  return values.findLast((value) => !isBlank(value)) ?? null;
};

/**
 * Returns the novelty of an ad by rule 3, from its first sighting and all scans. An earlier look at it is a complete scan
 * before the sighting that covered the page in a country of the sighting's scan. If the sighting's scan does not name
 * the page, a complete search for the same brand that did not name it either is a look too, since the page was first met.
 * Decision: scans of the same time do not precede each other. Ads without a page count as one page of each scanned
 * brand. A page is met by the first scan, for any brand and complete or not, that names it or shows an ad of it.
 */
const noveltyOf = (sighting: Scan, shown: ShownAd, scans: readonly Scan[]): AdFigures['novelty'] => {
  const { page } = shown;
  const names = (scan: Scan): boolean => page !== null && scan.pages.includes(page);
  const meets = (scan: Scan): boolean =>
    names(scan) ||
    scan.ads.some((ad) => ad.page === page && (page !== null || scan.brand === sighting.brand));
  const metAt = scans.find(meets)?.at ?? sighting.at;
  const isLook = (scan: Scan): boolean =>
    scan.complete &&
    scan.at < sighting.at &&
    sighting.countries.some((country) => coversCountry(scan, country)) &&
    (names(scan) || (!names(sighting) && scan.brand === sighting.brand && scan.at >= metAt));
  const look = scans.findLast(isLook);
  if (!look) return 'baseline';
  return shown.startedOn !== null && shown.startedOn >= dayBefore(look.at) ? 'news' : 'late';
};

/** An ad after some scan. */
type AdState = {
  readonly status: AdFigures['status'];
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  /** Time of the last sighting that showed it running; `null` before the first. */
  readonly lastRunningAt: string | null;
  readonly novelty: AdFigures['novelty'];
  /** Countries that were requested by the scans that saw it. With its page they are its pairs. */
  readonly requested: readonly string[];
  /** Complete scans after its last sighting that did not show it. */
  readonly absences: readonly Scan[];
  readonly inactiveSince: string | null;
  readonly stoppedOn: string | null;
  /** True when the scan made it inactive and that counts as a retirement of its day. */
  readonly retired: boolean;
};

const afterSighting = (
  before: AdState | null,
  scan: Scan,
  shown: ShownAd,
  scans: readonly Scan[],
): AdState => {
  const novelty = before?.novelty ?? noveltyOf(scan, shown, scans);
  const requested = [...(before?.requested ?? []), ...scan.countries];
  // Decision: an ad was last seen when a scan last showed it running; one that never ran, at its first sighting.
  const seen = { firstSeenAt: before?.firstSeenAt ?? scan.at, novelty, requested, absences: [] };
  if (!isEnded(shown, scan)) {
    const running = { lastSeenAt: scan.at, lastRunningAt: scan.at, inactiveSince: null, stoppedOn: null };
    return { ...seen, ...running, status: 'active', retired: false };
  }
  const wasInactive = before?.status === 'inactive';
  return {
    ...seen,
    status: 'inactive',
    lastSeenAt: before?.lastSeenAt ?? scan.at,
    lastRunningAt: before?.lastRunningAt ?? null,
    // Decision: an inactive ad that is shown as ended stays inactive since its stop; a stop date is added to it.
    inactiveSince: wasInactive ? before.inactiveSince : scan.at,
    stoppedOn: shown.stoppedOn ?? (wasInactive ? before.stoppedOn : null),
    // Decision: the stop of an ad that no scan showed running counts only if the ad itself is news.
    retired: !wasInactive && (before?.lastRunningAt != null || (before === null && novelty === 'news')),
  };
};

/**
 * Rule 1, for a complete scan that does not show the ad. Missing: each of its pairs has an absence. Inactive: each pair
 * has two, the later at least 20 hours after the first. Decision: an absence has a later time than the last sighting,
 * so a scan of the same time does not count.
 */
const afterAbsence = (before: AdState, scan: Scan, page: string | null): AdState => {
  const same = { ...before, retired: false };
  if (before.status === 'inactive' || page === null || scan.at <= before.lastSeenAt) return same;
  const absences = [...before.absences, scan];
  const timesOfPairs = before.requested.map((country) =>
    absences.filter((absence) => coversPair(absence, page, country)).map(({ at }) => Date.parse(at)),
  );
  const isStopped = timesOfPairs.every(
    (times) => times.length >= 2 && Math.max(...times) - Math.min(...times) >= ABSENCE_CONFIRMS_AFTER_MS,
  );
  if (isStopped) return { ...same, absences, status: 'inactive', inactiveSince: scan.at, retired: true };
  const isMissing = timesOfPairs.every((times) => times.length >= 1);
  return { ...same, absences, status: isMissing ? 'missing' : before.status };
};

/** Returns the ad's state after each scan; `null` before its first sighting. */
const statesOf = (ad: string, scans: readonly Scan[]): readonly (AdState | null)[] => {
  let state: AdState | null = null;
  return scans.map((scan, index) => {
    const shown = shows(scan, ad);
    if (shown) state = afterSighting(state, scan, shown, scans);
    else if (state && scan.complete)
      state = afterAbsence(state, scan, latest(ad, scans.slice(0, index + 1), 'page'));
    else if (state) state = { ...state, retired: false };
    return state;
  });
};

/** Returns the links that hold at a time: the last one of each page and brand, unless it ended the link. */
const linksAt = ({ observations }: World, time: string): PageLink[] => {
  const links = observations
    .filter((observation): observation is PageLink => observation.kind === 'link' && observation.at <= time)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const last = new Map(links.map((link) => [`${link.page} ${link.brand}`, link]));
  return [...last.values()].filter(({ linked }) => linked);
};

/** The place of a scan in the order of observation. */
type Moment = { readonly at: string; readonly id: string };

/**
 * Returns the domains that a profile, a link or a scan had registered at a moment. Decision: of scans of the same time,
 * only those with a smaller id precede (rule 11).
 */
const registeredAt = ({ observations }: World, { at, id }: Moment): string[] =>
  observations
    .filter((one) => one.at <= at && (one.kind !== 'link' || one.linked))
    .filter((one) => one.kind !== 'scan' || one.at < at || one.id <= id)
    .map(({ brand }) => brand);

/**
 * Returns the brand of an ad by rule 10, from the scans up to a time and the links and registrations known at that time.
 * Decision: figures of a day hold the brand as known at its scans; the ad and its brands' totals, as known at the end.
 */
const brandOf = (ad: string, scans: readonly Scan[], moment: Moment, world: World): string => {
  const host = (latest(ad, scans, 'link') ?? '').split('/')[0] ?? '';
  const ofDestination = registeredAt(world, moment)
    .filter((domain) => host === domain || host.endsWith(`.${domain}`))
    .toSorted((a, b) => b.length - a.length)[0];
  const page = latest(ad, scans, 'page');
  const rank = (link: PageLink): number => world.brands.indexOf(link.brand);
  const ofPage = linksAt(world, moment.at)
    .filter((link) => link.page === page)
    .toSorted((a, b) => b.confidence - a.confidence || rank(a) - rank(b))[0]?.brand;
  const ofFirstScan = scans.find((scan) => shows(scan, ad))?.brand;
  return ofDestination ?? ofPage ?? ofFirstScan ?? '';
};

/**
 * True when complete scans covered all pages linked to the brand on a day (rule 9). Decision: judged at each complete
 * scan of the day that was made for the brand or names a page linked to it, with the links observed by then and the
 * pages of all complete scans of the day, for any brand.
 */
const isReliable = (brand: string, day: string, scans: readonly Scan[], world: World): boolean => {
  const complete = scans.filter((scan) => scan.complete && dayOf(scan.at) === day);
  const covered = complete.flatMap(({ pages }) => pages);
  return complete.some((scan) => {
    const linked = linksAt(world, scan.at).filter((link) => link.brand === brand);
    const isLook = linked.some(({ page }) => scan.pages.includes(page)) || scan.brand === brand;
    return isLook && linked.every(({ page }) => covered.includes(page));
  });
};

/** Rule 12: from the start date, else the first sighting, to the stop date, else the last sighting as running. */
const daysActiveOf = (startedOn: string | null, state: AdState): number | null => {
  const to = state.stoppedOn ?? (state.lastRunningAt && dayOf(state.lastRunningAt));
  const from = startedOn ?? dayOf(state.firstSeenAt);
  return to === null ? null : Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY_MS);
};

/** Returns the public countries. Decision: a scan of several countries adds none unless the ad itself names them. */
const countriesOf = (ad: string, scans: readonly Scan[]): string[] => {
  const named = scans.flatMap((scan) => {
    const shown = shows(scan, ad);
    return shown ? (shown.countries ?? (scan.countries.length === 1 ? scan.countries : [])) : [];
  });
  return [...new Set(named)].filter((country) => country !== 'ALL').toSorted();
};

const END_OF_TIME: Moment = { at: '9999', id: '' };

/** Returns the figures that the observations lead to, in every order of arrival and with repetitions. */
export const expectedFigures = (world: World): Figures => {
  const scans = scansOf(world);
  const adIds = [...new Set(scans.flatMap(({ ads }) => ads.map(({ ad }) => ad)))].toSorted();
  const states = new Map(adIds.map((ad) => [ad, statesOf(ad, scans)]));

  const ads: Record<string, AdFigures> = {};
  for (const ad of adIds) {
    const state = states.get(ad)?.at(-1);
    if (!state) throw new Error(`ad ${ad} has no state`);
    const startedOn = latest(ad, scans, 'startedOn');
    ads[ad] = {
      brand: brandOf(ad, scans, END_OF_TIME, world),
      status: state.status,
      page: latest(ad, scans, 'page'),
      first_seen: state.firstSeenAt,
      last_seen: state.lastSeenAt,
      novelty: state.novelty,
      inactive_since: state.inactiveSince,
      started_on: startedOn,
      stopped_on: state.stoppedOn,
      days_active: daysActiveOf(startedOn, state),
      countries: countriesOf(ad, scans),
      body: latest(ad, scans, 'body'),
      title: latest(ad, scans, 'title'),
      caption: latest(ad, scans, 'caption'),
      link: latest(ad, scans, 'link'),
    };
  }

  const brands: Record<string, BrandFigures> = {};
  for (const brand of world.brands) {
    const statuses = Object.values(ads).flatMap((ad) => (ad.brand === brand ? [ad.status] : []));
    const count = (status: AdFigures['status']): number => statuses.filter((one) => one === status).length;
    const counts = { active: count('active'), missing: count('missing'), inactive: count('inactive') };
    brands[brand] = { ...counts, total: statuses.length };
  }
  return { ads, brands, days: dailyFigures(world, scans, adIds, states) };
};

const dailyFigures = (
  world: World,
  scans: readonly Scan[],
  adIds: readonly string[],
  states: ReadonlyMap<string, readonly (AdState | null)[]>,
): Record<string, DayFigures> => {
  const days: Record<string, DayFigures> = {};
  scans.forEach((scan, index) => {
    const now = adIds.flatMap((ad) => {
      const state = states.get(ad)?.[index];
      if (!state) return [];
      const before = states.get(ad)?.[index - 1] ?? null;
      const brand = brandOf(ad, scans.slice(0, index + 1), scan, world);
      const brandBefore = before && brandOf(ad, scans.slice(0, index), scan, world);
      return [{ ad, state, before, brand, brandBefore, page: latest(ad, scans.slice(0, index + 1), 'page') }];
    });
    for (const brand of world.brands) {
      // Decision: a scan looks at the brand that it was made for, at the brands of its ads, before and after it, and,
      // if it is complete, at the brands that a covered page is linked to or that have a live ad on a covered page.
      const isCovered = (page: string | null): boolean => scan.complete && scan.pages.includes(page ?? '');
      const own = now.filter((one) => one.brand === brand || one.brandBefore === brand);
      const isLook =
        scan.brand === brand ||
        own.some(({ ad }) => shows(scan, ad)) ||
        own.some(({ before, page }) => before && before.status !== 'inactive' && isCovered(page)) ||
        linksAt(world, scan.at).some((link) => link.brand === brand && isCovered(link.page));
      if (!isLook) continue;
      const key = `${brand} ${dayOf(scan.at)}`;
      const ads = now.filter((one) => one.brand === brand);
      days[key] = {
        active: ads.filter(({ state }) => state.status !== 'inactive').length,
        new:
          (days[key]?.new ?? 0) +
          ads.filter(({ before, state }) => !before && state.novelty === 'news').length,
        retired: (days[key]?.retired ?? 0) + ads.filter(({ state }) => state.retired).length,
        reliable: isReliable(brand, dayOf(scan.at), scans, world),
      };
    }
  });
  return days;
};
