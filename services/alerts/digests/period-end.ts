import { MINUTE_MS, utcDate } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import type { MatchingSession } from '../dependencies.ts';
import { PREFIXES } from '../matching/match-events.ts';

/** An event recorded before midnight may arrive this much later. */
export const PERIOD_GRACE_MS = 30_000;
/**
 * After midnight, a period closes even if the log has unmatched events. They go into the next digest, and `as_of` shows
 * where this one ends.
 */
export const PERIOD_WAIT_MS = 5 * MINUTE_MS;
/** Interval of the checks whether everything is matched. */
const LOOK_MS = 1_000;

/** UTC day that has begun by the clock but not by the log clock; `null` when it is the same day. */
export const dayToBegin = ({ progress, settings }: MatchingSession): string | null => {
  const day = utcDate(new Date(settings.clock.now().getTime() - PERIOD_GRACE_MS).toISOString());
  return day > utcDate(progress.logTime) ? day : null;
};

/**
 * Waits until everything in the log is matched, or `PERIOD_WAIT_MS` have passed. Never rejects. False when the signal
 * is aborted before.
 */
export const waitForPeriodEnd = async (
  { eventStore, progress, settings }: MatchingSession,
  day: string,
  ending: AbortSignal,
): Promise<boolean> => {
  const latestMs = Date.parse(day) + PERIOD_WAIT_MS;
  while (!ending.aborted) {
    const after = progress.position === 0n ? null : progress.position;
    const isBehind = await eventStore.isBehind(after, PREFIXES).catch(() => true);
    if (!isBehind || settings.clock.now().getTime() >= latestMs) return true;
    await pause(LOOK_MS, ending);
  }
  return false;
};
