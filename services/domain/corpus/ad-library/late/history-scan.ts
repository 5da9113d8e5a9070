import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { ScanCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import { type BrandMoves, movedBetween } from '../contributions.ts';
import { recordScan, type ScanEnd } from '../decider.ts';
import type { LookHistory } from '../looks.ts';
import type { ReplayScan } from '../replay.ts';
import { correctScan, type ScanHeader } from '../scan.ts';
import { adsNowOf, type LibraryState } from '../state.ts';
import { compareScans, END_OF_TIME } from '../timeline.ts';

export type StatedScan = Pick<ReplayScan, 'scan_id' | 'observed_at' | 'header' | 'totals'> & {
  readonly reliable: boolean;
  readonly noLook: boolean;
};

/** Ads that only this scan showed count from the newest look on (rule 11). A recorded scan adds no events. */
export const closeHistoryScan =
  (
    scan: ScanHeader,
    end: ScanEnd,
    history: LookHistory,
    scans: readonly StatedScan[],
    moves: readonly BrandMoves[],
  ) =>
  (state: LibraryState): (ScanCorrected | ScanRecorded)[] => {
    const closing = recordScan(scan, end, history)(state);
    const stated = scans.flatMap(({ totals, ...one }) => {
      if (totals === null) return [];
      const moved = movedBetween(moves, one.observed_at, END_OF_TIME);
      const now = {
        ...totals,
        active: state.live - moved.active,
        missing: state.missing - moved.missing,
        total: state.total - moved.total,
      };
      return [{ ...one, totals, now }];
    });
    const newest = stated.findLast(({ noLook }) => !noLook);
    if (closing.length === 0 || newest === undefined) return closing;
    const { scan_id, observed_at, now: totals } = newest;
    const corrections = stated
      .filter((one) => compareScans(newest, one) <= 0 && !isEqual(one.totals, one.now))
      .map(({ header, reliable, noLook, now }) =>
        correctScan(
          header,
          scan.scan_id,
          { reliable, noLook, totals: now },
          { scan_id, observed_at, totals },
          adsNowOf(state),
        ),
      );
    return [...corrections, ...closing];
  };
