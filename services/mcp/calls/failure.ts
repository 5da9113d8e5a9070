import { type ErrorCode, Refusal } from '#contracts/errors.ts';
import { hasTime } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import { cleanText } from '../output/result.ts';

const DETAILS_MAX = 5;

export class CallTimeout extends Error {}

/** For refusals whose message does not say what to do. */
const ADVICE: Partial<Readonly<Record<ErrorCode, string>>> = {
  brand_unknown: '`find_brands` searches brands by name.',
  not_found: 'Check the id; `search` and `find_brands` return ids.',
  scope_missing: 'The connection or the role of the member does not allow this.',
};

const READ_LATE = 'The call took too long. Ask for fewer parts or a smaller limit.';
/** A timed-out write may still be recorded. */
const WRITE_LATE = 'The call took too long. The change may have been made: look before you repeat it.';

/** True when the time of the call, or of its request, was used up. */
const isLate = (error: unknown): boolean =>
  error instanceof CallTimeout || (!hasTime() && error instanceof Refusal && error.code === 'overloaded');

/** Only refusals are worded. Other errors get a constant text with the request id, because they may hold internals. */
export const sentenceOf = (error: unknown, requestId: string, log: Log, isWrite = false): string => {
  if (isLate(error)) return isWrite ? WRITE_LATE : READ_LATE;
  if (!(error instanceof Refusal) || error.code === 'internal') {
    log.error({ err: error, request_id: requestId }, 'call failed');
    return `Internal error. Try again, and report the request id ${requestId}.`;
  }
  const faults: readonly string[] = error.details
    .slice(0, DETAILS_MAX)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .filter((fault) => !error.message.includes(fault));
  // The message of a rejected input only refers to its details.
  const isRejected = error.code === 'invalid_input' && faults.length > 0;
  const message = isRejected
    ? `The input was rejected: ${faults.join('; ')}.`
    : [error.message, ...faults].join(' ');
  const advice = ADVICE[error.code];
  return cleanText(advice === undefined ? message : `${message} ${advice}`);
};
