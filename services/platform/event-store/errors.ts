import { convertToCommandError, UnavailableError } from '@eventstore/db-client';
import type { ServiceError } from '@grpc/grpc-js';

export class EventStoreSilent extends Error {
  constructor(milliseconds: number) {
    super(`the event store did not answer within ${Math.round(milliseconds)} ms`);
    this.name = 'EventStoreSilent';
  }
}

/** Thrown without asking: too much waits for the event store, or it has not answered for a while. */
export class EventStoreBusy extends Error {
  constructor(reason: string) {
    super(`the event store is not asked: ${reason}`);
    this.name = 'EventStoreBusy';
  }
}

/** Thrown when the connection was replaced before the end: the events read may not be all. */
export class ReadCutOff extends Error {
  readonly type = 'unavailable';
  constructor() {
    super('the connection to the event store was replaced before the end of the read');
    this.name = 'ReadCutOff';
  }
}

/** No user, a wrong password, or no right to this call. No repetition helps. */
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

const GRPC_CANCELLED = 1;
const GRPC_INVALID_ARGUMENT = 3;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAVAILABLE = 14;
const GRPC_UNAUTHENTICATED = 16;

/** The package has no type for this failure. */
export const isDiscoveryFailure = (error: unknown): boolean => {
  const { message, type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const isUntyped = type === undefined && code === GRPC_UNAVAILABLE;
  return isUntyped || (typeof message === 'string' && message.startsWith('Failed to discover'));
};

export const isAccessDenied = (error: unknown): boolean => {
  const { type, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return type === 'access-denied' || code === GRPC_PERMISSION_DENIED || code === GRPC_UNAUTHENTICATED;
};

export const toClearError = <E>(error: E): E | EventStoreDenied =>
  isAccessDenied(error) && !(error instanceof EventStoreDenied)
    ? new EventStoreDenied(error as unknown as Error)
    : error;

/** The package's own function throws when a node names no leader. */
export const toCommandError = (error: ServiceError): Error => {
  try {
    return toClearError(convertToCommandError(error));
  } catch {
    return new UnavailableError(error);
  }
};

/** The server is gone, silent, starting, or not the leader. */
const FAULT_TYPES: ReadonlySet<unknown> = new Set([
  'unavailable',
  'timeout',
  'deadline-exceeded',
  'cancelled',
  'not-leader',
]);

/** After these faults the same call may be made again: event ids make an append safe to repeat. */
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

/** Throws `EventStoreSilent` when no answer arrives in time. */
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
