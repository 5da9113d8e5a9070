/**
 * Error codes of the intake with type and status. They are apart from `contracts/errors.ts`, which is part of the public
 * contract: the intake is not, and has statuses that the API does not have. The error body is the same.
 */
export const INTAKE_ERRORS = {
  invalid_request: { type: 'bad_request', status: 400 },
  unauthorized: { type: 'unauthorized', status: 401 },
  type_not_granted: { type: 'forbidden', status: 403 },
  not_found: { type: 'not_found', status: 404 },
  hash_mismatch: { type: 'conflict', status: 409 },
  lease_lost: { type: 'conflict', status: 409 },
  task_ended: { type: 'conflict', status: 409 },
  too_large: { type: 'payload_too_large', status: 413 },
  unsupported_content: { type: 'unsupported_media_type', status: 415 },
  rate_limited: { type: 'rate_limited', status: 429 },
  internal: { type: 'internal', status: 500 },
  unavailable: { type: 'unavailable', status: 503 },
} as const;
export type IntakeErrorCode = keyof typeof INTAKE_ERRORS;
