import { utcDate } from '#contracts/values/time.ts';

/** Rule 9: on which days the figures of a brand are reliable. */

/** A link between the brand and a social page, and the time since when it is known. */
export type LinkedPage = { readonly page_id: string; readonly linked_at: string };

/** A complete scan of the day, with the pages that it named. */
export type DayScan = {
  readonly observed_at: string;
  readonly scanned_for: string;
  readonly pageIds: ReadonlySet<string>;
};

/**
 * True when the complete scans of the day cover every page that was linked to the brand by the time of one of them,
 * for whichever brand they were made. A brand without linked pages needs a complete scan made for it. `scans` are the complete
 * scans of one day; a page that is linked later makes later days need it, never earlier ones.
 */
export const isReliableDay = (
  brandId: string,
  links: readonly LinkedPage[],
  scans: readonly DayScan[],
): boolean =>
  scans.some(({ observed_at, scanned_for }) => {
    const needed = links.filter(({ linked_at }) => linked_at <= observed_at);
    if (needed.length === 0) return scanned_for === brandId;
    return needed.every(({ page_id }) => scans.some(({ pageIds }) => pageIds.has(page_id)));
  });

/** Returns the scans of the same UTC day. */
export const scansOfDay = (time: string, scans: readonly DayScan[]): readonly DayScan[] =>
  scans.filter(({ observed_at }) => utcDate(observed_at) === utcDate(time));
