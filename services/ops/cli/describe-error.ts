/** Faults that operators can do something about, in words: whoever operates at night needs no stack trace for them. */

type Fault = {
  /** Of the event store's client. */
  readonly type?: string;
  readonly code?: unknown;
  readonly message?: string;
  /** Of a file that could not be read or written. */
  readonly path?: unknown;
  readonly errors?: readonly Fault[];
};

const NOT_REACHED = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
/** SQL states: who may not come in, a database that is not there, a server that is full, starting or stopping. */
const NOT_LET_IN = /^(28|3D|53300|57P)/;
/** SQL states: no such table, no such schema. */
const NOT_MADE = ['42P01', '3F000'];
/** SQL states: not granted, and a connection that may only read. */
const NOT_ALLOWED = ['42501', '25006'];
const TOOK_TOO_LONG = '57014';
const EVENT_STORE_FAULTS = ['unavailable', 'access-denied', 'timeout', 'deadline-exceeded'];
/** Faults of connections as `pg` throws them, which have no code. */
const LOST = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a',
  'The server does not support SSL connections',
];
/** Codes of TLS, as Node has them. */
const NOT_TRUSTED = /CERT|TLS|SSL|UNABLE_TO/;

const firstOf = (error: unknown): Fault => {
  const fault = (error ?? {}) as Fault;
  // Of a name with several addresses, each has failed.
  return fault.errors?.[0] ?? fault;
};

const reasonOf = ({ message = '' }: Fault): string =>
  (message.split('\n')[0] ?? '').replace(/ Resolution note: ?$/, '');

/** `null`: none that says that a server does not answer. */
export const serverFault = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { type = '', code, message = '' } = fault;
  if (EVENT_STORE_FAULTS.includes(type))
    return `The event store does not answer: ${reasonOf(fault)} EVENT_STORE_URL says where it is.`;
  if (code === TOOK_TOO_LONG) return 'Postgres took longer over this than is allowed. Ask for less at once.';
  const isPostgres =
    typeof code === 'string'
      ? NOT_REACHED.includes(code) || NOT_LET_IN.test(code) || NOT_TRUSTED.test(code)
      : LOST.some((start) => message.startsWith(start));
  return isPostgres ? `Postgres does not answer: ${reasonOf(fault)}. DATABASE_URL says where it is.` : null;
};

/** `null`: something else, which its stack trace says best. */
export const placeFault = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { code } = fault;
  if (typeof code !== 'string') return null;
  if (NOT_MADE.includes(code))
    return `This database has not what that needs: ${reasonOf(fault)}. Start the service on it, the projector first.`;
  if (NOT_ALLOWED.includes(code)) return `The role of DATABASE_URL may not do that: ${reasonOf(fault)}.`;
  return typeof fault.path === 'string' ? `${reasonOf(fault)}.` : null;
};
