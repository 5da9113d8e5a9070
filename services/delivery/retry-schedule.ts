import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';

/** Ten attempts, the first at once, over slightly more than three days. */
export const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  DAY_MS,
] as const;
/** Deliveries that failed together are then not retried together. */
export const JITTER_MAX = 0.1;

export type Next =
  | { readonly outcome: 'delivered' | 'failed'; readonly nextAttemptAt: null }
  | { readonly outcome: 'retrying'; readonly nextAttemptAt: Date };

/** `round`: from 1 since queued or replayed. `Retry-After` can only postpone the next attempt. `chance`: 0 to 1. */
export const afterAttempt = (
  sent: Pick<SendOutcome, 'delivered' | 'terminal' | 'retry_after_ms'>,
  round: number,
  at: Date,
  chance: number,
): Next => {
  if (sent.delivered) return { outcome: 'delivered', nextAttemptAt: null };
  const delayMs = RETRY_DELAYS_MS[round - 1];
  if (sent.terminal || delayMs === undefined) return { outcome: 'failed', nextAttemptAt: null };
  const waitMs = Math.max(delayMs * (1 + JITTER_MAX * chance), sent.retry_after_ms ?? 0);
  return { outcome: 'retrying', nextAttemptAt: new Date(at.getTime() + Math.ceil(waitMs)) };
};
