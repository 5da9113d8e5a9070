import { Refusal } from '#contracts/errors.ts';
import { EventStoreBusy, EventStoreSilent, isDiscoveryFailure } from '#platform/event-store/errors.ts';
import { ReadsBusy } from '#platform/postgres/hot-connections.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';

/** Codes of PostgreSQL for a statement that ran into its timeout, and for a server without free connections. */
const OVERLOAD_CODES: ReadonlySet<unknown> = new Set(['57014', '53300']);
/** Messages of `pg-pool` when no connection became free in time. These errors have no code. */
const NO_CONNECTION: ReadonlySet<unknown> = new Set(['timeout exceeded when trying to connect']);
/** Types of the event store's client for a server that is gone, silent, or not the leader. */
const EVENT_STORE_TYPES: ReadonlySet<unknown> = new Set([
  'cancelled',
  'deadline-exceeded',
  'not-leader',
  'timeout',
  'unavailable',
]);
/** Status codes of gRPC for a deadline that passed and a server that is not there. */
const GRPC_CODES: ReadonlySet<unknown> = new Set([4, 14]);
/** Seconds after which the caller may try again. */
const RETRY_AFTER_SECONDS = 3;

const isEventStoreFailure = (error: unknown): boolean => {
  const { type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return (
    EVENT_STORE_TYPES.has(type) ||
    GRPC_CODES.has(code) ||
    error instanceof EventStoreSilent ||
    error instanceof EventStoreBusy ||
    isDiscoveryFailure(error)
  );
};

/**
 * Converts an error of a server that is too busy, silent or gone into the refusal 503 with a hint. Returns other
 * errors unchanged: they are faults.
 */
export const toOverload = (error: unknown): unknown => {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (isConnectionFailure(error) || isEventStoreFailure(error)) {
    return new Refusal(
      'overloaded',
      'A server that the request needs does not answer. Try again; repeat a write with the same `Idempotency-Key`.',
      [],
      RETRY_AFTER_SECONDS,
    );
  }
  if (!(error instanceof ReadsBusy) && !OVERLOAD_CODES.has(code) && !NO_CONNECTION.has(message)) return error;
  return new Refusal(
    'overloaded',
    'The request took too long. Narrow it (a brand, more words, a shorter time), or try again.',
    [],
    RETRY_AFTER_SECONDS,
  );
};
