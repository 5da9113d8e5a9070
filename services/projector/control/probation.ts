/**
 * Time for which a projection reads the log alone after it failed in a group. All projections of a group wait for each
 * failure, also if the slow one succeeds alone, where its statements have more time.
 */
export type Probation = {
  readonly lengthMs: number;
  /** Time of its end, by the clock of `performance`. */
  readonly endsAtMs: number;
};

/** First and longest probation in milliseconds. It doubles with each failure in a group. */
export const PROBATION_FIRST_MS = 60_000;
const PROBATION_MAX_MS = 60 * 60_000;
/** Milliseconds in a group without a failure after which a probation is as short as the first again. */
const PROVEN_AFTER_MS = 60 * 60_000;

/** Returns the probation after a failure. `isAlone`: the projection failed while it read alone, so the length stays. */
export const probationAfter = (before: Probation | null, isAlone: boolean, nowMs: number): Probation => {
  const isFirst = before === null || (!isAlone && nowMs - before.endsAtMs >= PROVEN_AFTER_MS);
  const lengthMs = isFirst
    ? PROBATION_FIRST_MS
    : Math.min(PROBATION_MAX_MS, isAlone ? before.lengthMs : 2 * before.lengthMs);
  return { lengthMs, endsAtMs: nowMs + lengthMs };
};

/** True until the probation ends. */
export const isOnProbation = (probation: Probation | null, nowMs: number): boolean =>
  probation !== null && nowMs < probation.endsAtMs;
