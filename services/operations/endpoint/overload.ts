import { Refusal } from '#contracts/errors.ts';
import { TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { serverFaultOf } from '#platform/server-fault.ts';

const RETRY_AFTER_SECONDS = 3;

const MESSAGES = {
  unable:
    'A server that the request needs does not answer, or cannot serve it now. Try again; repeat a write with the same `Idempotency-Key`.',
  busy: 'The request took too long. Narrow it (a brand, more words, a shorter time), or try again.',
} as const;

export const timeIsOut = (): Refusal =>
  new Refusal(
    'overloaded',
    'The request was not done in time. Try again; repeat a write with the same `Idempotency-Key`.',
    [],
    RETRY_AFTER_SECONDS,
  );

/**
 * Converts an error of a busy, silent or lost server into 503, with the error as cause unless it is busy. Returns
 * other errors unchanged: they are faults.
 */
export const toOverload = (error: unknown): unknown => {
  if (error instanceof TimeUsedUp) return timeIsOut();
  const fault = serverFaultOf(error);
  if (fault === null) return error;
  const refusal = new Refusal('overloaded', MESSAGES[fault], [], RETRY_AFTER_SECONDS);
  if (fault === 'unable') refusal.cause = error;
  return refusal;
};

/** `null` for an error that does not mean overload. */
export const overloadOf = (error: unknown): Refusal | null => {
  const converted = toOverload(error);
  return converted instanceof Refusal && converted.code === 'overloaded' ? converted : null;
};
