import type { RecordedEvent } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';

/** Thrown for an event that cannot be applied. A database that cannot be reached throws other errors. */
export class PoisonEvent extends Error {
  readonly event: RecordedEvent;

  constructor(event: RecordedEvent, cause: unknown) {
    super(`${event.type} at ${event.position} in ${event.stream}: ${(cause as Error).message}`, { cause });
    this.name = 'PoisonEvent';
    this.event = event;
  }

  /** The schema version that a release must know to read the event; `null` when it failed for another reason. */
  get waitsForVersion(): number | null {
    return this.cause instanceof UnreadableEvent ? this.cause.version : null;
  }
}

/** Thrown when the changes of a batch cannot be grouped or encoded: an event of the batch is the cause. */
export class UnwritableChanges extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
    this.name = 'UnwritableChanges';
  }
}

/** Runs code that groups or encodes changes, without I/O. Its errors become `UnwritableChanges`. */
export const encoding = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new UnwritableChanges(error);
  }
};

const SQL_STATE = /^[0-9A-Z]{5}$/;
/** Classes of SQL states that the data of an event causes: cardinality, data, constraint, limit, raised exception. */
const CAUSED_BY_EVENT = /^(21|22|23|44|54|P0)/;
/** States that pass: connection, rollback, resources, shutdown, lock not available. */
const TRANSIENT = /^(08|40|53|57P|55P03)/;
/** States of a statement that was cancelled or of a server in trouble. Another attempt may succeed. */
const MAY_PASS = /^(25|55|57|58|XX)/;

/** The SQL state of an error of the server; `null` for other errors. */
const sqlStateOf = (error: unknown): string | null => {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && SQL_STATE.test(code) ? code : null;
};

/** True when a statement has waited too long for a lock of another transaction. */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/** True when the process cannot go on: the database is gone, or another process has taken the work over. */
export const endsSession = (error: unknown): boolean => {
  if (isCausedByEvent(error)) return false;
  if (error instanceof LeaseLost || isConnectionFailure(error)) return true;
  const state = sqlStateOf(error);
  if (state !== null) return /^(08|57P)/.test(state);
  // Errors of sockets and streams have codes of other forms.
  return typeof (error as { readonly code?: unknown }).code === 'string';
};

/**
 * True when an event of the batch may be the cause: halving the batch finds it. Only the code that projects and encodes
 * events proves that, and the SQL states above. Every other error, such as a wait for a connection, says nothing about an event.
 */
export const isCausedByEvent = (error: unknown): boolean => {
  if (error instanceof PoisonEvent || error instanceof UnwritableChanges) return true;
  const state = sqlStateOf(error);
  return state !== null && CAUSED_BY_EVENT.test(state);
};

/** True when another attempt with the same code may succeed. */
export const mayPass = (error: unknown): boolean => {
  if (isCausedByEvent(error)) return false;
  if (endsSession(error)) return true;
  const state = sqlStateOf(error);
  return state === null || TRANSIENT.test(state) || MAY_PASS.test(state);
};
