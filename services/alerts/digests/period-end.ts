import { MINUTE_MS, utcDate } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import type { MatchingSession } from '../dependencies.ts';
import { PREFIXES } from '../matching/match-events.ts';

/** Delay after midnight before a period closes: an event recorded before midnight may arrive this much later. */
export const PERIOD_GRACE_MS = 30_000;
/**
 * Milliseconds after midnight at which a period closes although the log has events that are not matched yet. They go into
 * the next digest, and `as_of` shows up to when this one holds.
 */
export const PERIOD_WAIT_MS = 5 * MINUTE_MS;
/** Milliseconds between two looks whether everything is matched. */
const LOOK_MS = 1_000;

/** Returns the UTC day that has begun by the clock, but not yet by the log clock. `null` when it is the same day. */
export const dayToBegin = ({ progress, settings }: MatchingSession): string | null => {
  const day = utcDate(new Date(settings.clock.now().getTime() - PERIOD_GRACE_MS).toISOString());
  return day > utcDate(progress.logTime) ? day : null;
};

/**
 * Waits until the periods that end with the midnight of `day` may close: everything in the log is matched, or it is
 * `PERIOD_WAIT_MS` later. Never rejects. Returns false when the signal is aborted before.
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
