import type { FailureClass } from '#contracts/values/alerts.ts';

/** Stored to explain a failure. */
export const ANSWER_MAX_BYTES = 16 * 1024;

export type AttemptTiming = {
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  /** From sending the request to the response headers. */
  readonly wait_ms: number | null;
};

export type SendOutcome = {
  readonly delivered: boolean;
  /** `null` when delivered. */
  readonly failure: FailureClass | null;
  /** HTTP status or SMTP reply code; `null` without a response. */
  readonly status_code: number | null;
  /** A sentence; `null` when delivered. */
  readonly reason: string | null;
  readonly duration_ms: number;
  readonly timing: AttemptTiming;
  /** At most `ANSWER_MAX_BYTES`; `null` without a response. */
  readonly answer: Buffer | null;
  /** Requested by the receiver; `null` when not requested. */
  readonly retry_after_ms: number | null;
  /** True when a retry would have the same outcome. */
  readonly terminal: boolean;
};

export const NO_TIMING: AttemptTiming = { dns_ms: null, connect_ms: null, tls_ms: null, wait_ms: null };

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
