import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLook } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanHeader } from '../scan.ts';
import type { AdState } from '../state.ts';
import { isBlank } from '../ad-content.ts';
import { lastShowing, type LoggedScan } from '../timeline.ts';

type Field = keyof AdContent;

type EarlierScan = LoggedScan & {
  readonly header: Pick<ScanHeader, 'collector'>;
  readonly differences: readonly string[];
};

export type CollectorSwitch = {
  /** Differences that repeat on most ads of the scan. */
  readonly differences: readonly string[];
  /** Differences from the collector that showed the field last (rule 6). `null` when that was the scan's own. */
  readonly differencesOf: (ad: AdState, field: Field) => readonly string[] | null;
};

/** The scan's own collector showed all fields of all ads. */
export const NO_SWITCH: CollectorSwitch = { differences: [], differencesOf: () => null };

/** The last scan with a value that is not blank; `undefined` when there is none. */
type LastShowing = (ad: AdState, field: Field, scans: readonly EarlierScan[]) => EarlierScan | undefined;

export const byStoredLooks: LastShowing = ({ looks, moved_at }, field, scans) =>
  lastShowing(looks, scans, field, moved_at);

export const byExpandedLooks =
  (ads: ReadonlyMap<string, ReadonlyMap<string, AdLook>>): LastShowing =>
  ({ ad_id }, field, scans) => {
    const looks = ads.get(ad_id);
    return scans.findLast(({ scan_id }) => !isBlank(looks?.get(scan_id)?.shown?.[field]));
  };

/** Expects the earlier scans in the order of observation. */
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
