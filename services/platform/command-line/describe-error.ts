import { isAccessDenied, toClearError } from '../event-store/errors.ts';
import { isPoolBusy } from '../postgres/connection-failure.ts';

/** Turns errors that operators can resolve into one line of text. */

type Fault = {
  readonly type?: string;
  readonly code?: unknown;
  readonly message?: string;
  readonly path?: unknown;
  readonly errors?: readonly Fault[];
};

const NOT_REACHED = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
/** SQLSTATEs: login rejected, unknown database, too many connections, server starting or stopping. */
const NOT_LET_IN = /^(28|3D|53300|57P)/;
/** SQLSTATEs: undefined table, undefined schema. */
const NOT_MADE = ['42P01', '3F000'];
/** SQLSTATEs: insufficient privilege, read-only connection. */
const NOT_ALLOWED = ['42501', '25006'];
const TOOK_TOO_LONG = '57014';
const EVENT_STORE_FAULTS = ['unavailable', 'timeout', 'deadline-exceeded'];
/** Beginnings of the connection errors of `pg` that have no code. */
const LOST = [
  'Connection terminated',
  'Client has encountered a',
  'The server does not support SSL connections',
];
const NOT_TRUSTED = /CERT|TLS|SSL|UNABLE_TO/;

const firstOf = (error: unknown): Fault => {
  const fault = (error ?? {}) as Fault;
  // A host name with several addresses yields an AggregateError. Its first error is reported.
  return fault.errors?.[0] ?? fault;
};

const reasonOf = ({ message = '' }: Fault): string =>
  (message.split('\n')[0] ?? '').replace(/ Resolution note: ?$/, '');

/** `null` for errors other than an unreachable or slow server. */
export const describeServerError = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { type = '', code, message = '' } = fault;
  if (isAccessDenied(fault)) {
    const refused = reasonOf(toClearError(fault));
    return `${refused.charAt(0).toUpperCase()}${refused.slice(1)}.`;
  }
  if (EVENT_STORE_FAULTS.includes(type))
    return `The event store does not respond: ${reasonOf(fault)} Check EVENT_STORE_URL.`;
  if (code === TOOK_TOO_LONG) return 'The Postgres query timed out. Request less data at once.';
  const isPostgres =
    typeof code === 'string'
      ? NOT_REACHED.includes(code) || NOT_LET_IN.test(code) || NOT_TRUSTED.test(code)
      : isPoolBusy(fault) || LOST.some((start) => message.startsWith(start));
  return isPostgres ? `Postgres does not respond: ${reasonOf(fault)}. Check DATABASE_URL.` : null;
};

/** `null` for errors other than a missing table, a missing privilege or a file. */
export const describeCommandError = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { code } = fault;
  if (typeof code !== 'string') return null;
  if (NOT_MADE.includes(code))
    return `The database is missing a table this command needs: ${reasonOf(fault)}. Start the service against it first, beginning with the projector.`;
  if (NOT_ALLOWED.includes(code))
    return `The role in DATABASE_URL lacks the required privileges: ${reasonOf(fault)}.`;
  return typeof fault.path === 'string' ? `${reasonOf(fault)}.` : null;
};
