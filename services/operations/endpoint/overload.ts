import { Refusal } from '#contracts/errors.ts';
import { TimeUsedUp } from '#platform/concurrency/time-budget.ts';
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

/** True for an answer of the object store that it cannot serve now. */
const isObjectStoreFailure = (error: unknown): boolean =>
  (error as { readonly $fault?: unknown } | null)?.$fault === 'server';

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

/** Returns the refusal of a request whose time is used up. */
export const timeIsOut = (): Refusal =>
  new Refusal(
    'overloaded',
    'The request was not done in time. Try again; repeat a write with the same `Idempotency-Key`.',
    [],
    RETRY_AFTER_SECONDS,
  );

/**
 * Converts an error of a server that is too busy, silent or gone into the refusal 503 with a hint. Returns other
 * errors unchanged: they are faults. The same for a request whose time is used up.
 */
export const toOverload = (error: unknown): unknown => {
  if (error instanceof TimeUsedUp) return timeIsOut();
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (isConnectionFailure(error) || isEventStoreFailure(error) || isObjectStoreFailure(error)) {
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

/** Returns the refusal 503 of an error of a server, or of a request whose time is used up; `null` for other errors. */
export const overloadOf = (error: unknown): Refusal | null => {
  const converted = toOverload(error);
  return converted instanceof Refusal && converted.code === 'overloaded' ? converted : null;
};
