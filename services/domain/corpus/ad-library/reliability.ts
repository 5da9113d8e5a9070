import { utcDate } from '#contracts/values/time.ts';
import { compareScans } from './timeline.ts';

export type LinkObservation = {
  readonly page_id: string;
  readonly observed_at: string;
  readonly linked: boolean;
};

/** From `from` until before `until`, if it ended. */
export type LinkPeriod = { readonly page_id: string; readonly from: string; readonly until: string | null };

/** A complete scan, with the pages that it named. */
export type DayScan = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly scanned_for: string;
  readonly pageIds: ReadonlySet<string>;
};

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

export const pagesLinkedAt = (links: readonly LinkPeriod[], time: string): readonly string[] =>
  links
    .filter(({ from, until }) => from <= time && (until === null || time < until))
    .map(({ page_id }) => page_id);

/** Made for the brand, or named a page linked by then. */
const looksAt = (brandId: string, linked: readonly string[], { scanned_for, pageIds }: DayScan): boolean =>
  scanned_for === brandId || linked.some((pageId) => pageIds.has(pageId));

/**
 * Rule 9: complete scans of the day cover every page linked when one of them ran. Without pages, it needs a complete
 * scan for the brand. Pages linked later count on later days.
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
 * By scan id. After a look made the day reliable, scans that did not look at the brand are not reliable for it. Expects
 * all complete scans of each day for the brand or its pages.
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
