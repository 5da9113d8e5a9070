import { Refusal } from '#contracts/errors.ts';
import { TimeUsedUp } from '#platform/concurrency/time-budget.ts';
import { serverFaultOf } from '#platform/server-fault.ts';

/** Seconds after which the caller may try again. */
const RETRY_AFTER_SECONDS = 3;

const MESSAGES = {
  unable:
    'A server that the request needs does not answer, or cannot serve it now. Try again; repeat a write with the same `Idempotency-Key`.',
  busy: 'The request took too long. Narrow it (a brand, more words, a shorter time), or try again.',
} as const;

/** Returns the refusal of a request whose time is used up. */
export const timeIsOut = (): Refusal =>
  new Refusal(
    'overloaded',
    'The request was not done in time. Try again; repeat a write with the same `Idempotency-Key`.',
    [],
    RETRY_AFTER_SECONDS,
  );

/**
 * Converts an error of a server that is too busy, silent or gone into the refusal 503 with a hint. The error of a server that
 * cannot serve is its cause, which is logged. Refusals of a busy server are many and not logged. Returns other errors unchanged: they are faults. The same for a request whose time is used up.
 */
export const toOverload = (error: unknown): unknown => {
  if (error instanceof TimeUsedUp) return timeIsOut();
  const fault = serverFaultOf(error);
  if (fault === null) return error;
  const refusal = new Refusal('overloaded', MESSAGES[fault], [], RETRY_AFTER_SECONDS);
  if (fault === 'unable') refusal.cause = error;
  return refusal;
};

/** Returns the refusal 503 of an error of a server, or of a request whose time is used up; `null` for other errors. */
export const overloadOf = (error: unknown): Refusal | null => {
  const converted = toOverload(error);
  return converted instanceof Refusal && converted.code === 'overloaded' ? converted : null;
};
