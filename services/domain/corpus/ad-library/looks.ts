import type { Novelty } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { DAY_MS, HOUR_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { ScanHeader } from './scan.ts';

/** Complete scan that named a page, or was made for the brand of its ads. */
export type PageLook = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly countries: readonly string[];
};

export type PageHistory = {
  /** First scan that named the page or showed its ad; `null` when none did. */
  readonly met_at: string | null;
  /** Complete scans that named the page, for any brand. */
  readonly looks: readonly PageLook[];
};

/** By page id; `searches`: complete scans for the same brand. */
export type LookHistory = {
  readonly pages: ReadonlyMap<string, PageHistory>;
  readonly searches: readonly PageLook[];
};

export const NO_HISTORY: LookHistory = { pages: new Map(), searches: [] };

/** Between the first complete scan that missed an ad and the one that confirms its stop (rule 1). */
export const ABSENCE_CONFIRMS_AFTER_HOURS = 20;
/** A start date may precede the last look by this and still count as after it (rule 3). */
const NEWS_GRACE_DAYS = 1;

export const covers = ({ countries }: { readonly countries: readonly string[] }, country: string): boolean =>
  countries.includes(country) || countries.includes('ALL');

/** `null`: none. Scans for the brand count for a page that this scan does not name, from its first ad on. */
export const lastLookBefore = (
  scan: Pick<ScanHeader, 'scanned_at' | 'countries' | 'pageIds'>,
  pageId: string,
  { pages, searches }: LookHistory,
): string | null => {
  const { met_at = null, looks = [] } = pages.get(pageId) ?? {};
  const unnamed =
    scan.pageIds.has(pageId) || met_at === null
      ? []
      : searches.filter(({ observed_at }) => observed_at >= met_at);
  let last: string | null = null;
  for (const look of [...looks, ...unnamed]) {
    if (look.observed_at >= scan.scanned_at || (last !== null && look.observed_at <= last)) continue;
    if (scan.countries.some((country) => covers(look, country))) last = look.observed_at;
  }
  return last;
};

/** Rule 3. `lastLook` is the result of `lastLookBefore`. */
export const noveltyOf = (ad: ObservedAd, lastLook: string | null): Novelty => {
  if (lastLook === null) return 'baseline';
  if (ad.started_on === null) return 'late';
  const earliest = utcDateOfMs(Date.parse(lastLook) - NEWS_GRACE_DAYS * DAY_MS);
  return ad.started_on >= earliest ? 'news' : 'late';
};

/** Absence of an ad: time since when it is missing, and time since when its stop is confirmed. */
export type Absence = { readonly missing_since: string; readonly confirmed_at: string | null };

const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

/**
 * `null` when a pair has no look since the last sighting. Missing: every pair has one; stopped: two,
 * `ABSENCE_CONFIRMS_AFTER_HOURS` apart (rule 1). Expects `looks` in the order of time.
 */
export const absenceOf = (
  countries: readonly string[],
  lastSeen: string,
  looks: readonly PageLook[],
): Absence | null => {
  const since = looks.filter(({ observed_at }) => observed_at > lastSeen);
  let missing_since = '';
  let confirmed_at: string | null = '';
  for (const country of countries) {
    const covering = since.filter((look) => covers(look, country));
    const [first] = covering;
    if (!first) return null;
    if (first.observed_at > missing_since) missing_since = first.observed_at;
    const second = covering.find(
      ({ observed_at }) => hoursBetween(first.observed_at, observed_at) >= ABSENCE_CONFIRMS_AFTER_HOURS,
    );
    if (!second) confirmed_at = null;
    else if (confirmed_at !== null && second.observed_at > confirmed_at) confirmed_at = second.observed_at;
  }
  return missing_since === '' ? null : { missing_since, confirmed_at: confirmed_at || null };
};
