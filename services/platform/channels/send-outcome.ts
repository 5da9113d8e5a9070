import type { FailureClass } from '#contracts/values/alerts.ts';

/** Maximum bytes of a response body that are stored, to explain a failure. */
export const ANSWER_MAX_BYTES = 16 * 1024;

/** Durations of the steps of one attempt in milliseconds; `null` when a step did not happen. */
export type AttemptTiming = {
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  /** From sending the request to the response headers. */
  readonly wait_ms: number | null;
};

/** Outcome of one attempt to send. */
export type SendOutcome = {
  readonly delivered: boolean;
  /** `null` when delivered. */
  readonly failure: FailureClass | null;
  /** HTTP status or SMTP reply code of the receiver; `null` without a response. */
  readonly status_code: number | null;
  /** Reason of the failure, as a sentence; `null` when delivered. */
  readonly reason: string | null;
  readonly duration_ms: number;
  readonly timing: AttemptTiming;
  /** First bytes of the response, at most `ANSWER_MAX_BYTES`; `null` without a response. */
  readonly answer: Buffer | null;
  /** Minimum milliseconds until the next attempt, requested by the receiver; `null` when not requested. */
  readonly retry_after_ms: number | null;
  /** True when a retry would have the same outcome. */
  readonly terminal: boolean;
};

export const NO_TIMING: AttemptTiming = { dns_ms: null, connect_ms: null, tls_ms: null, wait_ms: null };

/** Creates the outcome of a failed attempt. `startedMs`: its start on the monotonic clock. */
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
