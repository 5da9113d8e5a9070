import type { FailureClass } from '#contracts/values/alerts.ts';

/** Of an answer, this much is kept for whoever asks why. */
export const ANSWER_MAX_BYTES = 16 * 1024;

/** Where the time of one attempt went, in milliseconds; `null` for a step that there was not. */
export type AttemptTiming = {
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  /** From the request on its way to the first of the answer. */
  readonly wait_ms: number | null;
};

/** What happened when something was sent once. */
export type SendOutcome = {
  readonly delivered: boolean;
  /** `null` when delivered. */
  readonly failure: FailureClass | null;
  /** The receiver's HTTP status, or SMTP reply code; `null` where there was no answer. */
  readonly status_code: number | null;
  /** A sentence; `null` when delivered. */
  readonly reason: string | null;
  readonly duration_ms: number;
  readonly timing: AttemptTiming;
  /** The first of what was answered. */
  readonly answer: Buffer | null;
  /** The receiver asked for no other attempt before this time has passed. */
  readonly retry_after_ms: number | null;
  /** Another attempt would come out the same. */
  readonly terminal: boolean;
};

export const NO_TIMING: AttemptTiming = { dns_ms: null, connect_ms: null, tls_ms: null, wait_ms: null };

/** An attempt that got no answer to speak of. */
export const failedOutcome = (
  failure: FailureClass,
  reason: string,
  startedMs: number,
  more: Partial<SendOutcome> = {},
): SendOutcome => ({
  delivered: false,
  failure,
  status_code: null,
  reason,
  duration_ms: Math.round(performance.now() - startedMs),
  timing: NO_TIMING,
  answer: null,
  retry_after_ms: null,
  terminal: failure === 'blocked_target',
  ...more,
});
