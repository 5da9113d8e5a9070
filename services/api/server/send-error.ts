import type { FastifyReply } from 'fastify';
import { ERRORS, Refusal } from '#contracts/errors.ts';
import { toOverload } from '#operations/endpoint/overload.ts';
import { type Allowance, setRateHeaders } from '#application/access/request-counts.ts';
import { type Headers, errorBody, send } from '#platform/http/http-server.ts';
import type { Log } from '#platform/logger.ts';

/** In an outage each request would write a warning. */
const WARN_EVERY_MS = 1_000;
const warnedAtMs = new WeakMap<Log, number>();

const mayWarn = (log: Log): boolean => {
  const now = performance.now();
  if (now - (warnedAtMs.get(log) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return false;
  warnedAtMs.set(log, now);
  return true;
};

/** For an overload that names no time. */
const RETRY_AFTER_SECONDS = 1;

/** Maps every refusal to HTTP. Any other error is logged and sent as 500. */
export const sendError = (
  reply: FastifyReply,
  requestId: string,
  thrown: unknown,
  log: Log,
  context: { readonly allowance?: Allowance | undefined; readonly headers?: Headers } = {},
): void => {
  const error = toOverload(thrown);
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal('internal', 'Internal error. Try again, and report the `request_id`.');
  if (refusal !== error) log.error({ err: error, request_id: requestId }, 'request failed');
  else if (refusal.cause !== undefined && mayWarn(log))
    log.warn({ err: refusal.cause, request_id: requestId }, 'request refused because of a server');
  const { type, status } = ERRORS[refusal.code];
  const body = errorBody(type, status, refusal.message, requestId, refusal.details);
  const headers: Headers = { ...context.headers, 'x-request-id': requestId };
  if (context.allowance) {
    setRateHeaders(headers, context.allowance);
    if (status === 429) headers['retry-after'] = context.allowance.resetIn;
  }
  if (refusal.retryAfterSeconds !== null) headers['retry-after'] = refusal.retryAfterSeconds;
  else if (status === 503) headers['retry-after'] = RETRY_AFTER_SECONDS;
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  send(reply, status, headers, body);
};
