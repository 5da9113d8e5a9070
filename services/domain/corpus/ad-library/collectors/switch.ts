import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLook } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanHeader } from '../scan.ts';
import type { AdState } from '../state.ts';
import { isBlank } from '../ad-content.ts';
import { lastShowing, type LoggedScan } from '../timeline.ts';

/** Switches of collectors between two scans that showed the same field of an ad (rule 6). */

type Field = keyof AdContent;

/** A scan before the one that is decided. */
type EarlierScan = LoggedScan & {
  readonly header: Pick<ScanHeader, 'collector'>;
  readonly differences: readonly string[];
};

/** Compares the collector of a scan with those that showed its ads before. */
export type CollectorSwitch = {
  /** Differences that repeat on most ads of the scan. */
  readonly differences: readonly string[];
  /**
   * Returns the differences between the collector that showed the field of the ad last and the scan's own: those that
   * repeat in this scan, and in scans by its collector since. `null` when its own collector showed the field last.
   */
  readonly differencesOf: (ad: AdState, field: Field) => readonly string[] | null;
};

/** The scan's own collector showed all fields of all ads. */
export const NO_SWITCH: CollectorSwitch = { differences: [], differencesOf: () => null };

/** Returns the last of the scans that showed the field of the ad non-blank; `undefined` when none did. */
type LastShowing = (ad: AdState, field: Field, scans: readonly EarlierScan[]) => EarlierScan | undefined;

/** Finds the last scan by the looks that the ad's state stores. */
export const byStoredLooks: LastShowing = ({ looks, moved_at }, field, scans) =>
  lastShowing(looks, scans, field, moved_at);

/** Finds the last scan by all looks of the ads. */
export const byExpandedLooks =
  (ads: ReadonlyMap<string, ReadonlyMap<string, AdLook>>): LastShowing =>
  ({ ad_id }, field, scans) => {
    const looks = ads.get(ad_id);
    return scans.findLast(({ scan_id }) => !isBlank(looks?.get(scan_id)?.shown?.[field]));
  };

/** Compares the collector of a scan with those of the scans before it. Expects these in the order of observation. */
export const collectorSwitch = (
  { collector }: Pick<ScanHeader, 'collector'>,
  differences: readonly string[],
  before: readonly EarlierScan[],
  lastShowingOf: LastShowing,
): CollectorSwitch => {
  if (before.every(({ header }) => header.collector === collector)) return NO_SWITCH;
  return {
    differences,
    differencesOf: (ad, field) => {
      const last = lastShowingOf(ad, field, before);
      if (last === undefined || last.header.collector === collector) return null;
      const since = before
        .slice(before.indexOf(last) + 1)
        .filter(({ header }) => header.collector === collector);
      return [...differences, ...since.flatMap((scan) => scan.differences)];
    },
  };
};
