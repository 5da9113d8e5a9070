/** Time for which a failed projection reads the log alone. In a group, all others would wait for each failure. */
export type Probation = {
  readonly lengthMs: number;
  readonly endsAtMs: number;
};

/** First and longest probation; it doubles with each failure in a group. */
export const PROBATION_FIRST_MS = 60_000;
const PROBATION_MAX_MS = 60 * 60_000;
/** Time in a group without a failure that resets the length of the next probation. */
const PROVEN_AFTER_MS = 60 * 60_000;

/** `isAlone`: the failure happened outside a group, so the length stays. */
export const probationAfter = (
  before: Probation | null,
  isAlone: boolean,
  nowMs: number,
  firstMs = PROBATION_FIRST_MS,
): Probation => {
  const isFirst = before === null || (!isAlone && nowMs - before.endsAtMs >= PROVEN_AFTER_MS);
  const lengthMs = isFirst
    ? firstMs
    : Math.min(PROBATION_MAX_MS, isAlone ? before.lengthMs : 2 * before.lengthMs);
  return { lengthMs, endsAtMs: nowMs + lengthMs };
};

export const isOnProbation = (probation: Probation | null, nowMs: number): boolean =>
  probation !== null && nowMs < probation.endsAtMs;
