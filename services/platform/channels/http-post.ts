import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Egress } from '../egress/http-client.ts';
import { networkFailure } from './classify-failure.ts';
import { ANSWER_MAX_BYTES, type AttemptTiming, failedOutcome, type SendOutcome } from './send-outcome.ts';
import { retryAfterMs } from './retry-after.ts';

/** From the attempt's beginning to the head of its answer. Connecting has its own limit within. */
export const TOTAL_TIMEOUT_MS = 15_000;
/** The status decides; what a receiver says besides is read for so long and no longer. */
const ANSWER_READ_MS = 2_000;
/** The receiver says that it is gone for good (RFC 9110, 15.5.11): another attempt would be told the same. */
const GONE = 410;

class TookTooLong extends Error {
  readonly code = 'ETIMEDOUT';
}
/** Ours: enough of the answer has been read, and its sender keeps the connection for no other. */
class EnoughRead extends Error {}

export type Post = {
  readonly url: string;
  /** Names and values, one after the other. */
  readonly headers: readonly string[];
  readonly body: Buffer;
};

/** How often the attempts under way are looked at for what took too long: one timer for all, since each costs. */
const LOOK_EVERY_MS = 100;
const underWay = new Set<Attempt>();
let looking: NodeJS.Timeout | undefined;

const lookAtAll = (): void => {
  const nowMs = performance.now();
  for (const attempt of underWay) attempt.endIfLate(nowMs);
  if (underWay.size > 0) return;
  clearInterval(looking);
  looking = undefined;
};

/** One request and what became of it: the handler of one dispatch. */
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

  constructor(origin: string, egress: Egress, clock: Clock, done: (outcome: SendOutcome) => void) {
    this.#origin = origin;
    this.#egress = egress;
    this.#clock = clock;
    this.#done = done;
    underWay.add(this);
    looking ??= setInterval(lookAtAll, LOOK_EVERY_MS);
  }

  /** Without a head of an answer in time there is no answer; with one, enough of it has been read. */
  endIfLate(nowMs: number): void {
    if (nowMs >= this.#endsMs) this.#abort(this.#status === null ? new TookTooLong() : new EnoughRead());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection.
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
    if (status < 200) return;
    this.#status = status;
    const nowMs = performance.now();
    this.#timing = { ...this.#timing, wait_ms: nowMs - this.#sentMs };
    const now = this.#clock.now();
    // Said twice, the later one holds: never earlier than any of them.
    for (const asked of [headers['retry-after']].flat()) {
      const ms = typeof asked === 'string' ? retryAfterMs(asked, now) : null;
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
      const reason = `No answer within ${TOTAL_TIMEOUT_MS / 1_000} seconds.`;
      return this.#settle(failedOutcome('timeout', reason, this.#startedMs, { timing: this.#timing }));
    }
    const { failure, reason } = networkFailure(error);
    this.#settle(failedOutcome(failure, reason, this.#startedMs, { timing: this.#timing }));
  }

  /** Before the request has a connection there is nothing to abort; then its start finds it settled. */
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
    underWay.delete(this);
    this.#done(outcome);
  }
}

const reasonOf = (status: number): string => {
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  if (status === GONE) return 'The receiver answered 410: it is gone for good.';
  return `The receiver answered ${status}.`;
};

/** Posts once, through the guard. Never rejects, never follows a redirect, and ends within its limits. */
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
        { origin, path, method: 'POST', headers: [...post.headers], body: post.body },
        attempt,
      );
    } catch (error) {
      attempt.onResponseError(null, error as Error);
    }
  });
};
