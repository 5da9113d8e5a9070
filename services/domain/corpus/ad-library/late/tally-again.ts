import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandAfter } from '../attribution/brand-timeline.ts';
import { addTally, emptyTally, repeatedDifferences } from '../collector-differences.ts';
import { type ExpandedLooks, replayAds, type ScanTallies } from '../replay.ts';
import type { LibraryState } from '../state.ts';
import { compareScans } from '../timeline.ts';
import {
  type LateScan,
  looksOfAd,
  metWith,
  NO_SHARED_ADS,
  scansWith,
  type SharedAds,
} from './replay-both.ts';

/** Differences of collectors, found again in the order of observation (rules 6, 11). */

/** Only then may differences be a collector's. A late observation that is not a scan has the collector `''`. */
export const hasSeveralCollectors = ({ scan, scans }: LateScan): boolean =>
  new Set([scan, ...scans].map(({ header }) => header.collector).filter((name) => name !== '')).size > 1;

/** Counts the ads as they are with the late scan. */
export const tallyAgain =
  (
    late: LateScan,
    adIds: readonly string[],
    shown: ReadonlyMap<string, ObservedAd>,
    tallies: ScanTallies,
    shared: SharedAds = NO_SHARED_ADS,
  ) =>
  ({ ads }: LibraryState): void => {
    const all = scansWith(late);
    const met = metWith(late);
    const plain = new Map<string, ExpandedLooks>();
    for (const adId of adIds) {
      const looks = looksOfAd(late, ads.get(adId) ?? shared.foreign.get(adId), shown.get(adId)).after;
      const brands = shared.ads.get(adId)?.after;
      if (brands === undefined) {
        plain.set(adId, looks);
        continue;
      }
      const ofAd: ScanTallies = new Map();
      replayAds(all, new Map([[adId, looks]]), met, ofAd);
      for (const scan of all) {
        const more = ofAd.get(scan.scan_id);
        if (more === undefined || brandAfter(brands, scan) !== late.scan.header.brand_id) continue;
        tallies.set(scan.scan_id, addTally(tallies.get(scan.scan_id) ?? emptyTally(), more));
      }
    }
    replayAds(all, plain, met, tallies);
  };

/** Includes later scans whose differences are other than recorded. Expects the tallies of all ads of the brand. */
export const differencesWith = (
  late: LateScan,
  tallies: ScanTallies,
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    scansWith(late).flatMap((one): [string, readonly string[]][] => {
      if (compareScans(one, late.scan) < 0) return [];
      const differences = repeatedDifferences(tallies.get(one.scan_id) ?? emptyTally());
      return isEqual(differences, one.differences) ? [] : [[one.scan_id, differences]];
    }),
  );
