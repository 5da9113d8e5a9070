import { NatsError } from 'nats';
import { isAccessDenied, isConnectionFault } from '#platform/event-store/errors.ts';
import { isConnectionFailure, isPoolBusy } from '#platform/postgres/connection-failure.ts';
import { LockLost } from '../intake/brand-locks.ts';

/**
 * SQL states of connections, read-only servers, passwords, databases, rollbacks, resources, locks, shutdowns and disks. The
 * state of a cancelled statement (57014) is missing: its cause may be the observation.
 */
const STATE = /^(08|25|28|3D|40|53|55P03|57P|58)/;
const SQL_STATE_LENGTH = 5;
/** Type of the event store's client for errors that it has no type for. The observation may be the cause of one. */
const UNTYPED = 'unknown';

/**
 * True for an error of a server that is gone, silent, overloaded or refuses the user. An observation cannot cause it, so it
 * says nothing about the observation however often it repeats.
 */
export const isServerFault = (error: unknown): boolean => {
  if (error instanceof NatsError || error instanceof LockLost) return true;
  if (isConnectionFailure(error) || isPoolBusy(error) || isAccessDenied(error)) return true;
  const { code, type } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof code === 'string' && code.length === SQL_STATE_LENGTH) return STATE.test(code);
  return type !== UNTYPED && isConnectionFault(error);
};
