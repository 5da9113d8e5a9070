import { status } from '@grpc/grpc-js';
import { isConnectionFault } from './event-store/errors.ts';
import { isConnectionFailure, isPoolBusy } from './postgres/connection-failure.ts';
import { ReadsBusy } from './postgres/read-database.ts';

/** SQLSTATEs of a busy server: statement over its timeout, no free connection. */
const BUSY_CODES: ReadonlySet<unknown> = new Set(['57014', '53300']);
/** SQLSTATEs: disk, memory or other limits (class 53), serialization failure, deadlock, lock not available. */
const UNABLE_CODES = /^(53...|40001|40P01|55P03)$/;

/** Statuses that no repetition of the call changes. */
const FINAL_STATUSES: ReadonlySet<unknown> = new Set([
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
]);
/** Texts of a bad message: its statuses, INTERNAL and RESOURCE_EXHAUSTED, also stand for a reset or busy connection. */
const OF_MESSAGE = /larger than|exceeds the maximum|parsing error|serialization failure/i;

/** True for an error of the call, not of the server. */
const isFinal = (error: unknown): boolean => {
  const { type, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'unknown') return false;
  const isOfMessage = code === status.INTERNAL || code === status.RESOURCE_EXHAUSTED;
  return FINAL_STATUSES.has(code) || (isOfMessage && OF_MESSAGE.test(String(message)));
};

/** True for an answer that blames the store, and for a missing one. */
const isObjectStoreFault = (error: unknown): boolean => {
  const { $fault, name } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return $fault === 'server' || name === 'TimeoutError';
};

/** `unable`: the server is gone, silent or full. `busy`: it works, but too much waits for it. */
export type ServerFault = 'unable' | 'busy';

/** Kind of a server fault, after which a request may be repeated; `null` when the request is at fault. */
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
