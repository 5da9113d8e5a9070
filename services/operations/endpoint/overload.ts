import { Refusal } from '#contracts/errors.ts';

/** Codes of PostgreSQL for a statement that ran into its timeout, and for a server without free connections. */
const OVERLOAD_CODES: ReadonlySet<unknown> = new Set(['57014', '53300']);
/** Messages of `pg-pool` when no connection became free, or none was made, in time. These errors have no code. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set([
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
]);
/** Seconds after which the caller may try again. */
const RETRY_AFTER_SECONDS = 3;

/**
 * Converts an error of a database that is too busy into the refusal 503 with a hint. Returns other errors unchanged: they
 * are faults.
 */
export const toOverload = (error: unknown): unknown => {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (!OVERLOAD_CODES.has(code) && !NO_CONNECTION.has(message)) return error;
  return new Refusal(
    'overloaded',
    'The request took too long. Narrow it (a brand, more words, a shorter time), or try again.',
    [],
    RETRY_AFTER_SECONDS,
  );
};
