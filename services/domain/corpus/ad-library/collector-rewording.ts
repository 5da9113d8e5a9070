import type { Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { compareContent, withExistingCards } from './ad-content.ts';
import type { ScanHeader } from './scan.ts';
import { collectorOf, type LibraryState, NO_PAGE } from './state.ts';

/**
 * Rule 6 (services/domain/README.md): collectors word the same ads differently, and such a difference is not a change
 * by the brand. When a scan comes from another collector than its pages' last one, its ads are counted before any is
 * decided. An aspect that differs in most ads counts as reworded by the collector.
 */

/** Number of ads per aspect that can be compared across the change of collector, and number of those that differ. */
export type RewordingTally = Record<Aspect, { comparable: number; different: number }>;

export const emptyTally = (): RewordingTally => ({
  copy: { comparable: 0, different: 0 },
  cta: { comparable: 0, different: 0 },
  format: { comparable: 0, different: 0 },
  destination: { comparable: 0, different: 0 },
});

/** True when the scan's collector differs from the recorded collector of one of its pages, so that rule 6 applies. */
export const collectorChanged = (scan: ScanHeader, state: LibraryState): boolean =>
  scan.pages.some(({ page_id }) => {
    const page = state.pages.get(page_id);
    return page !== undefined && page.collector !== scan.collector;
  });

/** Adds the ads to the tally of rule 6, in place, and returns it. Ads last seen by the same collector do not count. */
export const tallyRewording =
  (scan: ScanHeader, ads: readonly ObservedAd[], tally: RewordingTally) =>
  (state: LibraryState): RewordingTally => {
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing || collectorOf(existing, state.pages.get(existing.page_id ?? NO_PAGE)) === scan.collector)
        continue;
      const { comparable, different } = compareContent(
        existing.content,
        withExistingCards(existing.content, ad),
      );
      for (const aspect of comparable) tally[aspect].comparable += 1;
      for (const aspect of different.keys()) tally[aspect].different += 1;
    }
    return tally;
  };

/** Returns the aspects that differ in more than half of the comparable ads: the collector reworded them (rule 6). */
export const rewordedAspects = (tally: RewordingTally): readonly Aspect[] =>
  (Object.keys(tally) as Aspect[]).filter((aspect) => tally[aspect].different * 2 > tally[aspect].comparable);
