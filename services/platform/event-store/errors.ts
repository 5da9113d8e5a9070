import { convertToCommandError, UnavailableError } from '@eventstore/db-client';
import type { ServiceError } from '@grpc/grpc-js';

/** Faults of calls to the event store, and what they mean for the caller. */

/** Thrown when the event store does not answer in time. */
export class EventStoreSilent extends Error {
  constructor(milliseconds: number) {
    super(`the event store did not answer within ${Math.round(milliseconds)} ms`);
    this.name = 'EventStoreSilent';
  }
}

/** Thrown without asking the event store: too much waits for it already, or it has not answered for a while. */
export class EventStoreBusy extends Error {
  constructor(reason: string) {
    super(`the event store is not asked: ${reason}`);
    this.name = 'EventStoreBusy';
  }
}

/** Thrown by a read whose connection was replaced before its end: what it has read may not be all. */
export class ReadCutOff extends Error {
  readonly type = 'unavailable';
  constructor() {
    super('the connection to the event store was replaced before the end of the read');
    this.name = 'ReadCutOff';
  }
}

/** Thrown when the event store refuses the user: none, a wrong password, or no right to this call. No repetition helps. */
export class EventStoreDenied extends Error {
  readonly type = 'access-denied';
  constructor(cause: Error) {
    super(
      `the event store refuses the user (${cause.message}): check user and password in EVENT_STORE_URL, and the rights of that user`,
      { cause },
    );
    this.name = 'EventStoreDenied';
  }
}

/** gRPC statuses. */
const GRPC_CANCELLED = 1;
const GRPC_INVALID_ARGUMENT = 3;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAVAILABLE = 14;
const GRPC_UNAUTHENTICATED = 16;

/** True for a failed discovery of the cluster's nodes. The package has no type for it. */
export const isDiscoveryFailure = (error: unknown): boolean => {
  const { message, type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const isUntyped = type === undefined && code === GRPC_UNAVAILABLE;
  return isUntyped || (typeof message === 'string' && message.startsWith('Failed to discover'));
};

/** True when the server refuses the user: none, a wrong password, or no right to this call. */
export const isAccessDenied = (error: unknown): boolean => {
  const { type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return type === 'access-denied' || code === GRPC_PERMISSION_DENIED || code === GRPC_UNAUTHENTICATED;
};

/** Returns `EventStoreDenied` for an error of a server that refuses the user, and any other error unchanged. */
export const toClearError = <E>(error: E): E | EventStoreDenied =>
  isAccessDenied(error) && !(error instanceof EventStoreDenied)
    ? new EventStoreDenied(error as unknown as Error)
    : error;

/**
 * Returns the package's error for a failed call, or `EventStoreDenied`. The package's own function throws when a node names no
 * leader.
 */
export const toCommandError = (error: ServiceError): Error => {
  try {
    return toClearError(convertToCommandError(error));
  } catch {
    return new UnavailableError(error);
  }
};

/** Types of the package's errors for a server that is gone, silent, starting, or not the leader. */
const FAULT_TYPES: ReadonlySet<unknown> = new Set([
  'unavailable',
  'timeout',
  'deadline-exceeded',
  'cancelled',
  'not-leader',
]);

/**
 * True for faults after which the same call may be made again. The ids of its events make an append safe to repeat. The package
 * has no type for some refusals of the user: they are none of these faults.
 */
export const isConnectionFault = (error: unknown): boolean => {
  if (isAccessDenied(error)) return false;
  if (error instanceof EventStoreSilent || error instanceof EventStoreBusy) return true;
  if (isDiscoveryFailure(error)) return true;
  if (!(error instanceof Error)) return false;
  const { type, code } = error as { type?: string; code?: number };
  return (
    FAULT_TYPES.has(type) ||
    (type === 'unknown' && code !== GRPC_INVALID_ARGUMENT) ||
    code === GRPC_UNAVAILABLE ||
    code === GRPC_DEADLINE_EXCEEDED ||
    code === GRPC_CANCELLED
  );
};

/** Returns the answer. Throws `EventStoreSilent` when there is none in time. */
export const withTimeout = async <T>(promise: Promise<T>, milliseconds: number): Promise<T> => {
  const answered = Promise.withResolvers<never>();
  // A busy process may not have read yet what has arrived: timers run before sockets are read.
  const timer = setTimeout(
    () => setImmediate(() => answered.reject(new EventStoreSilent(milliseconds))),
    milliseconds,
  );
  try {
    return await Promise.race([promise, answered.promise]);
  } finally {
    clearTimeout(timer);
  }
};
