import type { ErrorDetail } from '#contracts/errors.ts';

/** `type` and `status` come from the error table of the process (`contracts/errors.ts` for the API). */
export const errorBody = (
  type: string,
  status: number,
  message: string,
  requestId: string,
  details: readonly ErrorDetail[],
): string =>
  JSON.stringify({
    error: { type, message, status, request_id: requestId, ...(details.length > 0 ? { details } : {}) },
  });
