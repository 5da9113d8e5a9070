import { status } from '@grpc/grpc-js';
import { isConnectionFault } from './event-store/errors.ts';
import { isConnectionFailure, isPoolBusy } from './postgres/connection-failure.ts';
import { ReadsBusy } from './postgres/read-database.ts';

/** SQLSTATEs of a server that is too busy: a statement over its timeout, and no free connection. */
const BUSY_CODES: ReadonlySet<unknown> = new Set(['57014', '53300']);
/**
 * SQLSTATEs of a server that cannot serve the statement now: disk or memory full and other limits (class 53), and a transaction
 * that lost to another one: serialization, deadlock, lock not available.
 */
const UNABLE_CODES = /^(53...|40001|40P01|55P03)$/;

/** gRPC statuses of the event store that no repetition of the call changes. */
const FINAL_STATUSES: ReadonlySet<unknown> = new Set([
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
]);
/**
 * Texts of gRPC for a message that is too large or cannot be read, with the statuses INTERNAL and RESOURCE_EXHAUSTED. A connection
 * that is reset, and a server with too many calls, have the same statuses.
 */
const OF_MESSAGE = /larger than|exceeds the maximum|parsing error|serialization failure/i;

/** True for an error for which the package has no type and that says something about the call, not about the server. */
const isFinal = (error: unknown): boolean => {
  const { type, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'unknown') return false;
  const isOfMessage = code === status.INTERNAL || code === status.RESOURCE_EXHAUSTED;
  return FINAL_STATUSES.has(code) || (isOfMessage && OF_MESSAGE.test(String(message)));
};

/** True for an answer of the object store that it cannot serve now, and for a missing one. */
const isObjectStoreFault = (error: unknown): boolean => {
  const { $fault, name } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return $fault === 'server' || name === 'TimeoutError';
};

/** `unable`: the server is gone, silent or full, or may not write. `busy`: it works, but too much waits for it. */
export type ServerFault = 'unable' | 'busy';

/**
 * Returns the kind of an error that is the fault of a server and not of the request, so that it may be repeated later. `null`
 * for any other error. All processes that answer requests use this one rule.
 */
export const serverFaultOf = (error: unknown): ServerFault | null => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (error instanceof ReadsBusy || BUSY_CODES.has(code) || isPoolBusy(error)) return 'busy';
  const isUnable =
    isConnectionFailure(error) ||
    (isConnectionFault(error) && !isFinal(error)) ||
    isObjectStoreFault(error) ||
    (typeof code === 'string' && UNABLE_CODES.test(code));
  return isUnable ? 'unable' : null;
};
