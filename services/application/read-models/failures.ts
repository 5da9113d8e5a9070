import type { RecordedEvent } from '#contracts/events/event.ts';
import { UnreadableEvent } from '#contracts/events/schema-registry.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';

/** An event that cannot be applied. An unreachable database throws other errors. */
export class PoisonEvent extends Error {
  readonly event: RecordedEvent;

  constructor(event: RecordedEvent, cause: unknown) {
    super(`${event.type} at ${event.position} in ${event.stream}: ${(cause as Error).message}`, { cause });
    this.name = 'PoisonEvent';
    this.event = event;
  }

  /** Schema version that a release must know to read the event; `null` for other failures. */
  get waitsForVersion(): number | null {
    return this.cause instanceof UnreadableEvent ? this.cause.version : null;
  }
}

/** Changes that cannot be grouped or encoded. An event of the batch is the cause. */
export class UnwritableChanges extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
    this.name = 'UnwritableChanges';
  }
}

/** Runs pure code that groups or encodes changes. Its errors become `UnwritableChanges`. */
export const encoding = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw error instanceof PoisonEvent ? error : new UnwritableChanges(error);
  }
};

const SQL_STATE = /^[0-9A-Z]{5}$/;
/** SQL states that event data causes: cardinality, data, constraint, limit, raised exception. */
const CAUSED_BY_EVENT = /^(21|22|23|44|54|P0)/;
/** SQL states that pass: connection, rollback, resources, shutdown, lock not available. */
const TRANSIENT = /^(08|40|53|57P|55P03)/;
/** SQL states of a cancelled statement or a server fault. A retry may succeed. */
const MAY_PASS = /^(25|55|57|58|XX)/;

const sqlStateOf = (error: unknown): string | null => {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && SQL_STATE.test(code) ? code : null;
};

export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/** True when the database is unreachable or another process holds the lease. */
export const endsSession = (error: unknown): boolean => {
  if (isCausedByEvent(error)) return false;
  if (error instanceof LeaseLost || isConnectionFailure(error)) return true;
  const state = sqlStateOf(error);
  if (state !== null) return /^(08|57P)/.test(state);
  // Errors of sockets and streams have codes of other forms.
  return typeof (error as { readonly code?: unknown }).code === 'string';
};

/** True only if the error proves an event as the cause; a wait for a connection does not. */
export const isCausedByEvent = (error: unknown): boolean => {
  if (error instanceof PoisonEvent || error instanceof UnwritableChanges) return true;
  const state = sqlStateOf(error);
  return state !== null && CAUSED_BY_EVENT.test(state);
};

/** True when a retry with the same code may succeed. */
export const mayPass = (error: unknown): boolean => {
  if (isCausedByEvent(error)) return false;
  if (endsSession(error)) return true;
  const state = sqlStateOf(error);
  return state === null || TRANSIENT.test(state) || MAY_PASS.test(state);
};
