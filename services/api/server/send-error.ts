import type { FastifyReply } from 'fastify';
import { ERRORS, type ErrorDetail, type ErrorType, Refusal } from '#contracts/errors.ts';
import type { Log } from '#platform/logger.ts';
import type { RequestContext } from './request-context.ts';
import { type Headers, rateHeaders, send } from './send-reply.ts';

/** The JSON text of the specification's error body. */
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

/** The one place where a refusal becomes HTTP. Anything else that is thrown is our own fault: 500, logged. */
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
      : new Refusal('internal', 'Something failed here. Try again and report the request_id.');
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
