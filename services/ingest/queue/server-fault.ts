import { NatsError } from 'nats';
import { isAccessDenied, isConnectionFault } from '#platform/event-store/errors.ts';
import { isConnectionFailure, isPoolBusy } from '#platform/postgres/connection-failure.ts';
import { LockLost } from '../intake/brand-locks.ts';

/**
 * SQL states of server faults. Leaves out those that an observation may cause: a cancelled statement (57014), memory
 * (53200), temporary files (53400), transactions (25).
 */
const STATE = /^(08|28|3D|40|53(?![24]00)|55P03|57P|58)/;
const SQL_STATE_LENGTH = 5;
const UNTYPED = 'unknown';

/**
 * Such errors are not counted. An observation that makes a server crash each time ends by its age
 * (`process-message.ts`).
 */
export const isServerFault = (error: unknown): boolean => {
  if (error instanceof NatsError || error instanceof LockLost) return true;
  if (isConnectionFailure(error) || isPoolBusy(error) || isAccessDenied(error)) return true;
  const { code, type } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof code === 'string' && code.length === SQL_STATE_LENGTH) return STATE.test(code);
  return type !== UNTYPED && isConnectionFault(error);
};
