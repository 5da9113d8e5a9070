import type { AdFigures, Scan, ShownAd } from '../world.ts';
import { coversCountry, coversPair, dayBefore, HOUR_MS, isEnded, latest, shows } from './observations.ts';

/** Minimum milliseconds between the first absence of an ad and the one that confirms its stop (rule 1). */
const ABSENCE_CONFIRMS_AFTER_MS = 20 * HOUR_MS;

/**
 * Rule 3. An earlier look at the ad is a complete scan before its first sighting that covered the page in a country of
 * the sighting's scan. If that scan does not name the page, a complete search for the same brand that did not name it
 * either is a look too, since the first scan that named the page or showed an ad of it. Decision: scans of the same
 * time do not precede each other. Ads without a page count as one page of each scanned brand.
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

export type AdState = {
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
 * Rule 1. Missing: each of its pairs has an absence. Inactive: each has two, the later at least 20 hours after the
 * first. Decision: an absence has a later time than the last sighting.
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
export const statesOf = (ad: string, scans: readonly Scan[]): readonly (AdState | null)[] => {
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
