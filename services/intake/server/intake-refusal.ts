import type { ErrorDetail } from '#contracts/errors.ts';
import type { IntakeErrorCode } from '#contracts/intake/errors.ts';

type Options = {
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
};

/** Ends a request with a status of `INTAKE_ERRORS`. `message` says what the collector should do. */
export class IntakeRefusal extends Error {
  readonly code: IntakeErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | null;

  constructor(code: IntakeErrorCode, message: string, { details = [], retryAfterSeconds }: Options = {}) {
    super(message);
    this.name = 'IntakeRefusal';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}
