import type { FastifyReply } from 'fastify';
import { ERRORS, type ErrorDetail, type ErrorType, Refusal } from '#contracts/errors.ts';
import type { Log } from '#platform/logger.ts';
import type { RequestContext } from './request-context.ts';
import { type Headers, rateHeaders, send } from './send-reply.ts';

/** Returns the error body of the specification as JSON text. */
export const errorBody = (
  type: ErrorType,
  status: number,
  message: string,
  requestId: string,
  details: readonly ErrorDetail[],
): string =>
  JSON.stringify({
    error: { type, message, status, request_id: requestId, ...(details.length > 0 ? { details } : {}) },
  });

/**
 * Sends an error reply. The only place that maps a refusal to HTTP. Any other error is logged and sent as 500.
 */
export const sendError = (
  reply: FastifyReply,
  requestId: string,
  error: unknown,
  log: Log,
  context?: RequestContext,
): void => {
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal('internal', 'Internal error. Try again, and report the `request_id`.');
  if (refusal !== error) log.error({ err: error, request_id: requestId }, 'request failed');
  const { type, status } = ERRORS[refusal.code];
  const body = errorBody(type, status, refusal.message, requestId, refusal.details);
  const headers: Headers = {
    'x-request-id': requestId,
  };
  if (context?.allowance) {
    Object.assign(headers, rateHeaders(context.allowance));
    if (status === 429) headers['retry-after'] = context.allowance.resetIn;
  }
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  send(reply, status, headers, body);
};
