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
  not_sendable: { type: 'conflict', status: 409 },
  key_revoked: { type: 'conflict', status: 409 },
  reply_gone: { type: 'conflict', status: 409 },
  rate_limited: { type: 'rate_limited', status: 429 },
  internal: { type: 'internal', status: 500 },
  overloaded: { type: 'unavailable', status: 503 },
} as const;
export type ErrorCode = keyof typeof ERRORS;
export type ErrorType = (typeof ERRORS)[ErrorCode]['type'];

/** Stable codes of single faults, those of zod first. Clients may rely on them, so a code keeps its meaning. */
export const DETAIL_CODES = {
  invalid_type: 'The value is missing, or has another type than the schema.',
  too_big: 'The number, text or list is larger than the maximum.',
  too_small: 'The number, text or list is smaller than the minimum.',
  invalid_format: 'The text does not have the required format, such as that of a uuid or a date.',
  not_multiple_of: 'The number is not a multiple of the required step.',
  unrecognized_keys: 'The endpoint has no parameter or property of this name.',
  invalid_union: 'The value fits none of the allowed forms.',
  invalid_key: 'The name of an entry is not allowed.',
  invalid_element: 'The value of an entry is not allowed.',
  invalid_value: 'The value is not one of the closed list.',
  custom: 'A rule that the message states is broken, such as one over two properties.',
  invalid_cursor: 'The cursor was altered, or is of another endpoint, workspace or filter.',
  invalid_token: 'The token was altered, or is of another endpoint, workspace or brand.',
  unknown_member: 'The workspace has no member of this id.',
  not_tracked: 'The workspace does not track the brand.',
  brand_known: 'The service knows the brand of the domain; the message has its address and id.',
  no_channel: 'The alert rule would have no channel to send on.',
  target_refused: 'The address of a webhook or chat tool cannot be used; the message says why.',
  window_reversed: 'The last day is before the first.',
  never_reached: 'A threshold that no message of the rule reaches.',
  window_too_long: 'The window has more days than a report covers.',
  window_in_future: 'The window ends after today, in UTC.',
  moment_in_future: 'The moment is later than now.',
  before_first_event: 'The moment is earlier than all that is known about the subject.',
  late_observation: 'The moment is between a late scan and a newer one that was recorded before it.',
  body_missing: 'The endpoint requires a JSON body.',
  body_not_allowed: 'The endpoint takes no body.',
  body_too_large: 'The body is larger than the maximum.',
  invalid_json: 'The body is not valid JSON.',
  invalid_utf8: 'A part of the request is not valid UTF-8.',
  content_type: 'The body is not sent as `application/json`.',
  content_encoding: 'The body is compressed or otherwise encoded.',
  header_missing: 'The request lacks a header that HTTP requires.',
  headers_too_large: 'Address and headers together are larger than the maximum.',
  method_not_allowed: 'The path has no endpoint with this method.',
  path_too_long: 'A part of the path is longer than the maximum.',
  request_timeout: 'The request did not arrive in time.',
  not_http: 'The bytes received are not an HTTP request.',
  bad_request: 'The request breaks a rule of HTTP that the message states.',
  fst_err_bad_url: 'The path has an incomplete or unreadable percent-encoding.',
  fst_err_ctp_invalid_content_length: 'The body is shorter or longer than `content-length`.',
  fst_err_ctp_invalid_media_type: 'The header `content-type` cannot be read.',
} as const;
export type DetailCode = keyof typeof DETAIL_CODES;

export const isDetailCode = (text: string): text is DetailCode => Object.hasOwn(DETAIL_CODES, text);

/** One fault of an input. `Code`: another list for interfaces besides the API. */
export type ErrorDetail<Code extends string = DetailCode> = {
  readonly path: string;
  readonly message: string;
  readonly code: Code;
};

/** Error that a decision throws to reject a command. `message` says what the caller should do. */
export class Refusal<Code extends string = DetailCode> extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail<Code>[];

  /** Seconds after which the caller may try again. `null`: the code or the allowance of the caller says it. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly ErrorDetail<NoInfer<Code>>[] = [],
    retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
