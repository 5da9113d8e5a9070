import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Egress } from '../egress/http-client.ts';
import {
  ANSWER_MAX_BYTES,
  type AttemptTiming,
  type SendOutcome,
  failedOutcome,
  networkFailure,
  retryAfterMs,
} from './send-outcome.ts';

/** From the start of an attempt to its response headers, with connecting, which has its own limit. */
export const TOTAL_TIMEOUT_MS = 15_000;
/** Limit for reading the response body, which is only recorded: the status alone decides the outcome. */
const ANSWER_READ_MS = 2_000;
/** Interim responses (1xx) to one request. A receiver that sends them without end costs time of all endpoints. */
const INTERIM_MAX = 16;
/** RFC 9110, 15.5.11: the receiver is gone permanently, so a retry is useless. */
const GONE = 410;

class TookTooLong extends Error {
  readonly code = 'ETIMEDOUT';
}
class TooManyInterim extends Error {}
/** Abort reason after enough of the response body: the connection is closed, not reused. */
class EnoughRead extends Error {}

export type Post = {
  readonly url: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body: Buffer;
};

/** The limits of the client would be two more timers for each request. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const;
/** One timer checks the timeouts of all attempts, because timers cost. */
const TIMEOUT_CHECK_MS = 100;
const activeAttempts = new Set<Attempt>();
let timeoutTimer: NodeJS.Timeout | undefined;

const checkTimeouts = (): void => {
  const nowMs = performance.now();
  for (const attempt of activeAttempts) attempt.endIfLate(nowMs);
  if (activeAttempts.size > 0) return;
  clearInterval(timeoutTimer);
  timeoutTimer = undefined;
};

class Attempt implements Dispatcher.DispatchHandler {
  readonly #startedMs = performance.now();
  readonly #origin: string;
  readonly #egress: Egress;
  readonly #clock: Clock;
  readonly #done: (outcome: SendOutcome) => void;
  readonly #chunks: Buffer[] = [];
  #endsMs = this.#startedMs + TOTAL_TIMEOUT_MS;
  #controller: Dispatcher.DispatchController | null = null;
  #bytes = 0;
  #status: number | null = null;
  #retryAfterMs: number | null = null;
  #timing: AttemptTiming = { dns_ms: null, connect_ms: null, tls_ms: null, wait_ms: null };
  #sentMs = this.#startedMs;
  #settled = false;
  #interim = 0;

  constructor(origin: string, egress: Egress, clock: Clock, done: (outcome: SendOutcome) => void) {
    this.#origin = origin;
    this.#egress = egress;
    this.#clock = clock;
    this.#done = done;
    activeAttempts.add(this);
    timeoutTimer ??= setInterval(checkTimeouts, TIMEOUT_CHECK_MS);
  }

  /** Ends in a timeout without response headers, else with the end of reading the body. */
  endIfLate(nowMs: number): void {
    if (nowMs >= this.#endsMs) this.#abort(this.#status === null ? new TookTooLong() : new EnoughRead());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The attempt timed out while it waited for a connection.
    if (this.#settled) {
      controller.abort(new TookTooLong());
      return;
    }
    this.#controller = controller;
    this.#sentMs = performance.now();
    const timing = this.#egress.takeTiming(this.#origin);
    if (timing) this.#timing = { ...timing, wait_ms: null };
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, unknown>>): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > INTERIM_MAX) this.#abort(new TooManyInterim());
      return;
    }
    this.#status = status;
    const nowMs = performance.now();
    this.#timing = { ...this.#timing, wait_ms: nowMs - this.#sentMs };
    // With repeated headers the latest time counts, so a retry is never earlier than any of them requests.
    for (const value of [headers['retry-after'] ?? []].flat()) {
      const ms = typeof value === 'string' ? retryAfterMs(value, this.#clock.now()) : null;
      if (ms !== null) this.#retryAfterMs = Math.max(ms, this.#retryAfterMs ?? 0);
    }
    this.#endsMs = nowMs + ANSWER_READ_MS;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(0, Math.max(0, ANSWER_MAX_BYTES - this.#bytes)));
    this.#bytes += chunk.length;
    if (this.#bytes > ANSWER_MAX_BYTES) this.#abort(new EnoughRead());
  }

  onResponseEnd(): void {
    this.#settle(this.#answered());
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#status !== null) return this.#settle(this.#answered());
    if (error instanceof TookTooLong) {
      const reason = `No response within ${TOTAL_TIMEOUT_MS / 1_000} seconds.`;
      return this.#settle(failedOutcome('timeout', reason, this.#startedMs, { timing: this.#timing }));
    }
    if (error instanceof TooManyInterim) {
      const reason = `The receiver sent more than ${INTERIM_MAX} interim responses (1xx) and no final one.`;
      return this.#settle(failedOutcome('http', reason, this.#startedMs, { timing: this.#timing }));
    }
    const { failure, reason } = networkFailure(error);
    this.#settle(failedOutcome(failure, reason, this.#startedMs, { timing: this.#timing }));
  }

  /** Without a connection the controller is `null`; `onRequestStart` aborts then. */
  #abort(reason: Error): void {
    this.#controller?.abort(reason);
    this.onResponseError(null, reason);
  }

  #answered(): SendOutcome {
    const status = this.#status ?? 0;
    const delivered = status >= 200 && status < 300;
    return {
      delivered,
      failure: delivered ? null : 'http',
      status_code: status,
      reason: delivered ? null : reasonOf(status),
      duration_ms: Math.round(performance.now() - this.#startedMs),
      timing: this.#timing,
      answer: this.#chunks.length === 1 ? (this.#chunks[0] ?? null) : Buffer.concat(this.#chunks),
      retry_after_ms: delivered ? null : this.#retryAfterMs,
      terminal: status === GONE,
    };
  }

  #settle(outcome: SendOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    activeAttempts.delete(this);
    this.#done(outcome);
  }
}

const reasonOf = (status: number): string => {
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  if (status === GONE) return 'The receiver answered 410: it is gone permanently.';
  return `The receiver answered ${status}.`;
};

/** Posts through the SSRF guard. Never rejects, never follows a redirect, and ends within the timeouts. */
export const postOnce = (egress: Egress, clock: Clock, post: Post): Promise<SendOutcome> => {
  const target = egress.targetOf(post.url);
  if ('fault' in target) {
    return Promise.resolve(failedOutcome('blocked_target', target.fault, performance.now()));
  }
  const { origin, path } = target;
  return new Promise((resolve) => {
    const attempt = new Attempt(origin, egress, clock, resolve);
    try {
      egress.dispatcher.dispatch(
        { origin, path, method: 'POST', headers: [...post.headers], body: post.body, ...NO_TIMEOUTS },
        attempt,
      );
    } catch (error) {
      attempt.onResponseError(null, error as Error);
    }
  });
};
