/** Error codes with HTTP type and status (specification, "Errors"). Domain code throws them in a `Refusal`. */
export const ERRORS = {
  invalid_input: { type: 'bad_request', status: 400 },
  invalid_cursor: { type: 'bad_request', status: 400 },
  method_not_allowed: { type: 'bad_request', status: 405 },
  not_acceptable: { type: 'bad_request', status: 406 },
  body_too_large: { type: 'bad_request', status: 413 },
  path_too_long: { type: 'bad_request', status: 414 },
  unsupported_media_type: { type: 'bad_request', status: 415 },
  unauthorized: { type: 'unauthorized', status: 401 },
  quota_used_up: { type: 'payment_required', status: 402 },
  scope_missing: { type: 'forbidden', status: 403 },
  link_invalid: { type: 'forbidden', status: 403 },
  not_yours: { type: 'forbidden', status: 403 },
  not_found: { type: 'not_found', status: 404 },
  brand_unknown: { type: 'not_found', status: 404 },
  idempotency_key_reused: { type: 'conflict', status: 409 },
  changed_meanwhile: { type: 'conflict', status: 409 },
  already_exists: { type: 'conflict', status: 409 },
  inside_itself: { type: 'conflict', status: 409 },
  shuts_out: { type: 'conflict', status: 409 },
  limit_reached: { type: 'conflict', status: 409 },
  ambiguous_prefix: { type: 'conflict', status: 409 },
  too_many_keys: { type: 'conflict', status: 409 },
  key_revoked: { type: 'conflict', status: 409 },
  reply_gone: { type: 'conflict', status: 409 },
  rate_limited: { type: 'rate_limited', status: 429 },
  internal: { type: 'internal', status: 500 },
  overloaded: { type: 'unavailable', status: 503 },
} as const;
export type ErrorCode = keyof typeof ERRORS;
export type ErrorType = (typeof ERRORS)[ErrorCode]['type'];

/** One fault of an input: its path, a message and a stable code. */
export type ErrorDetail = { readonly path: string; readonly message: string; readonly code: string };

/** Error that a decision throws to reject a command. `message` says what the caller should do. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];

  /** Seconds after which the caller may try again. `null`: the code or the allowance of the caller says it. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly ErrorDetail[] = [],
    retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
