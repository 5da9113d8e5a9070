import { DAY_MS } from '#contracts/values/time.ts';
import type { FailureClass } from '#contracts/values/alerts.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';

/** Longer requests of a receiver are reduced to one day. */
export const RETRY_AFTER_MAX_MS = DAY_MS;

/** The three date formats of HTTP (RFC 9110, 5.6.7), all in UTC. */
const IMF_OR_RFC850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

const dateMs = (text: string): number => {
  if (IMF_OR_RFC850.test(text)) return Date.parse(text);
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};

/** `Retry-After` (RFC 9110, 10.2.3) in seconds or as a date, as ms from now. `null` when absent or invalid. */
export const retryAfterMs = (value: string | undefined, now: Date): number | null => {
  const text = value?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
};

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

const DNS = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|ENONAME|EBADNAME|EBADRESP|EDNS$|EFORMERR)/;
const TLS =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$|ETLS$|HOSTNAME_MISMATCH|ERR_OSSL)/;
const TIMEOUT = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ESOCKETTIMEDOUT)$/;
/** Codes of an invalid HTTP response. The parser error has a code only sometimes. */
const ANSWER = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH|RESPONSE))/;
const PARSER_ERROR = 'HTTPParserError';

const SENTENCES: Readonly<Record<FailureClass, string>> = {
  timeout: 'The connection timed out.',
  connection: 'The connection failed, or was closed before a response.',
  dns: 'The host name could not be resolved.',
  tls: 'The TLS connection failed: the certificate or the protocol was not accepted.',
  http: 'The response was not valid HTTP.',
  blocked_target: 'This target is blocked.',
};

export type NetworkFailure = { readonly failure: FailureClass; readonly reason: string };

const codeOf = (error: Error): string => {
  const own = (error as { code?: unknown }).code;
  if (typeof own === 'string') return own;
  // An AggregateError holds an error per address; the last one represents them.
  const several = (error as { errors?: readonly Error[] }).errors;
  return several?.length ? codeOf(several.at(-1) ?? new Error('none')) : '';
};

/** The reason is a sentence for customers and never holds an internal address. */
export const networkFailure = (error: Error): NetworkFailure => {
  if (error instanceof BlockedTarget) return { failure: 'blocked_target', reason: error.message };
  const code = codeOf(error);
  const createFailure = (failure: FailureClass): NetworkFailure => ({
    failure,
    reason: code === '' ? SENTENCES[failure] : `${SENTENCES[failure]} (${code})`,
  });
  if (TIMEOUT.test(code)) return createFailure('timeout');
  if (DNS.test(code)) return createFailure('dns');
  if (TLS.test(code)) return createFailure('tls');
  return createFailure(ANSWER.test(code) || error.name === PARSER_ERROR ? 'http' : 'connection');
};
