import { utcDate } from '#contracts/values/time.ts';
import { compareScans } from './timeline.ts';

/** Rule 9: on which days the figures of a brand are reliable. */

/** An observation that a social page is linked to the brand, or is not. */
export type LinkObservation = {
  readonly page_id: string;
  readonly observed_at: string;
  readonly linked: boolean;
};

/** A time during which a social page was linked to the brand: from `from` until before `until`, if it ended. */
export type LinkPeriod = { readonly page_id: string; readonly from: string; readonly until: string | null };

/** A complete scan of the day, with the pages that it named. */
export type DayScan = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly scanned_for: string;
  readonly pageIds: ReadonlySet<string>;
};

/** Returns the times during which pages were linked to a brand, by all observations of its links, in any order. */
export const linkPeriods = (observations: readonly LinkObservation[]): readonly LinkPeriod[] => {
  const periods: LinkPeriod[] = [];
  for (const [page_id, ofPage] of Map.groupBy(observations, (one) => one.page_id)) {
    let from: string | null = null;
    const inOrder = ofPage.toSorted((a, b) => (a.observed_at < b.observed_at ? -1 : 1));
    for (const { linked, observed_at } of inOrder) {
      if (linked) from ??= observed_at;
      else if (from !== null) {
        periods.push({ page_id, from, until: observed_at });
        from = null;
      }
    }
    if (from !== null) periods.push({ page_id, from, until: null });
  }
  return periods;
};

/** Returns the ids of the pages that were linked at a time. */
export const pagesLinkedAt = (links: readonly LinkPeriod[], time: string): readonly string[] =>
  links
    .filter(({ from, until }) => from <= time && (until === null || time < until))
    .map(({ page_id }) => page_id);

/** True when the scan was made for the brand, or named a page that was linked to it by then. */
const looksAt = (brandId: string, linked: readonly string[], { scanned_for, pageIds }: DayScan): boolean =>
  scanned_for === brandId || linked.some((pageId) => pageIds.has(pageId));

/**
 * True when the complete scans of a day, made for any brand, cover every page that was linked to the brand when one
 * of them ran. A brand without linked pages needs a complete scan made for it. `scans`: complete scans of one day. A
 * page that is linked later is required on later days only.
 */
export const isReliableDay = (
  brandId: string,
  links: readonly LinkPeriod[],
  scans: readonly DayScan[],
): boolean =>
  scans.some((scan) => {
    const needed = pagesLinkedAt(links, scan.observed_at);
    if (!looksAt(brandId, needed, scan)) return false;
    return needed.every((pageId) => scans.some(({ pageIds }) => pageIds.has(pageId)));
  });

/**
 * Returns by scan id whether the day was reliable after each of these scans. Once a look has made the day reliable, scans
 * that did not look at the brand are not reliable for it: to show an ad of the brand does not cover its pages. Expects all
 * complete scans of each day that were made for the brand or named a page of its links. Other scans do not matter.
 */
export const reliableScans = (
  brandId: string,
  links: readonly LinkPeriod[],
  scans: readonly DayScan[],
): ReadonlyMap<string, boolean> => {
  const reliable = new Map<string, boolean>();
  const byDay = Map.groupBy(scans.toSorted(compareScans), ({ observed_at }) => utcDate(observed_at));
  for (const ofDay of byDay.values()) {
    let hasReliableLook = false;
    ofDay.forEach((scan, index) => {
      const isLook = looksAt(brandId, pagesLinkedAt(links, scan.observed_at), scan);
      const isDone = hasReliableLook && !isLook;
      const isReliable = !isDone && isReliableDay(brandId, links, ofDay.slice(0, index + 1));
      reliable.set(scan.scan_id, isReliable);
      hasReliableLook ||= isReliable && isLook;
    });
  }
  return reliable;
};
