import type { Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { compareContent, contentBeside } from './ad-content.ts';
import type { ScanHeader } from './scan.ts';
import { collectorOf, type LibraryState, NO_PAGE } from './state.ts';

/** Rule 6 of DESIGN §5: collectors word the same ads differently, and that is no change of the brand's. */

/** Per aspect: how many ads could differ because the collector changed, and how many do. */
export type RewordingTally = Record<Aspect, { comparable: number; different: number }>;
export const emptyTally = (): RewordingTally => ({
  copy: { comparable: 0, different: 0 },
  cta: { comparable: 0, different: 0 },
  format: { comparable: 0, different: 0 },
  destination: { comparable: 0, different: 0 },
});

/** Whether a scan's collector is another than that of its pages' last scan, so that rule 6 must be weighed. */
export const collectorChanged = (scan: ScanHeader, state: LibraryState): boolean =>
  scan.pages.some(({ page_id }) => {
    const page = state.pages.get(page_id);
    return page !== undefined && page.collector !== scan.collector;
  });

/** Adds these ads to the tally of rule 6. Ads last seen by the same collector do not count. */
export const tallyRewording =
  (scan: ScanHeader, ads: readonly ObservedAd[], tally: RewordingTally) =>
  (state: LibraryState): RewordingTally => {
    for (const ad of ads) {
      const known = state.ads.get(ad.ad_id);
      if (!known || collectorOf(known, state.pages.get(known.page_id ?? NO_PAGE)) === scan.collector)
        continue;
      const { comparable, different } = compareContent(known.content, contentBeside(known.content, ad));
      for (const aspect of comparable) tally[aspect].comparable += 1;
      for (const aspect of different.keys()) tally[aspect].different += 1;
    }
    return tally;
  };

/** Rule 6: an aspect that differs for most ads is worded by the collector. */
export const rewordedAspects = (tally: RewordingTally): readonly Aspect[] =>
  (Object.keys(tally) as Aspect[]).filter((aspect) => tally[aspect].different * 2 > tally[aspect].comparable);
