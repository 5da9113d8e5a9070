import type { FastifyReply } from 'fastify';
import type { ErrorDetail } from '#contracts/errors.ts';
import { INTAKE_ERRORS, type IntakeDetailCode, type IntakeErrorCode } from '#contracts/intake.ts';
import { type Headers, errorBody, send } from '#platform/http/http-server.ts';
import type { Log } from '#platform/logger.ts';

type Options = {
  readonly details?: readonly ErrorDetail<IntakeDetailCode>[];
  readonly retryAfterSeconds?: number;
};

/** Ends a request with a status of `INTAKE_ERRORS`. `message` says what the collector should do. */
export class IntakeRefusal extends Error {
  readonly code: IntakeErrorCode;
  readonly details: readonly ErrorDetail<IntakeDetailCode>[];
  readonly retryAfterSeconds: number | null;

  constructor(code: IntakeErrorCode, message: string, { details = [], retryAfterSeconds }: Options = {}) {
    super(message);
    this.name = 'IntakeRefusal';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}

export const sendRefusal = (reply: FastifyReply, requestId: string, error: unknown, log: Log): void => {
  const refusal =
    error instanceof IntakeRefusal
      ? error
      : new IntakeRefusal('internal', 'Internal error. Try again, and report the `request_id`.');
  if (refusal !== error) log.error({ err: error, request_id: requestId }, 'request failed');
  const { type, status } = INTAKE_ERRORS[refusal.code];
  const headers: Headers = { 'x-request-id': requestId };
  if (refusal.retryAfterSeconds !== null) headers['retry-after'] = refusal.retryAfterSeconds;
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  send(reply, status, headers, errorBody(type, status, refusal.message, requestId, refusal.details));
};
