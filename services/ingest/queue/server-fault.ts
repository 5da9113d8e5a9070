import { NatsError } from 'nats';
import { isAccessDenied, isConnectionFault } from '#platform/event-store/errors.ts';
import { isConnectionFailure, isPoolBusy } from '#platform/postgres/connection-failure.ts';
import { LockLost } from '../intake/brand-locks.ts';

/**
 * SQL states of connections, passwords, databases, rollbacks, full disks and connections, locks, shutdowns and files. Those are
 * missing whose cause may be the observation: a cancelled statement (57014), one that takes too much memory (53200) or writes
 * too large temporary files (53400), and states of transactions (25). A read-only server (25006) is a failed connection.
 */
const STATE = /^(08|28|3D|40|53(?![24]00)|55P03|57P|58)/;
const SQL_STATE_LENGTH = 5;
/** Type of the event store's client for errors that it has no type for. The observation may be the cause of one. */
const UNTYPED = 'unknown';

/**
 * True for an error of a server that is gone, silent, overloaded or refuses the user. It says nothing about the observation, so
 * such errors are not counted. An observation that makes a server crash each time ends by its age (`process-message.ts`).
 */
export const isServerFault = (error: unknown): boolean => {
  if (error instanceof NatsError || error instanceof LockLost) return true;
  if (isConnectionFailure(error) || isPoolBusy(error) || isAccessDenied(error)) return true;
  const { code, type } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof code === 'string' && code.length === SQL_STATE_LENGTH) return STATE.test(code);
  return type !== UNTYPED && isConnectionFault(error);
};
