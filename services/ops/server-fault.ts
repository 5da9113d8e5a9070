/** Faults of the servers that commands reach, in words: whoever operates at night needs no stack trace for them. */

type Fault = {
  /** Of the event store's client. */
  readonly type?: string;
  readonly code?: unknown;
  readonly message?: string;
  readonly errors?: readonly Fault[];
};

const NOT_REACHED = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
/** SQL states: who may not come in, a database that is not there, a server that is full, starting or stopping. */
const NOT_LET_IN = /^(28|3D|53300|57P)/;
const EVENT_STORE_FAULTS = ['unavailable', 'access-denied', 'timeout', 'deadline-exceeded'];
const POOL_TIMEOUT = 'timeout exceeded when trying to connect';

/** `null`: something else, which its stack trace says best. */
export const serverFault = (error: unknown): string | null => {
  // Of a name with several addresses, each has failed.
  const fault = (error as Fault).errors?.[0] ?? (error as Fault);
  const { type = '', code, message = '' } = fault;
  const reason = message.split('\n')[0]?.replace(/ Resolution note: ?$/, '');
  if (EVENT_STORE_FAULTS.includes(type))
    return `The event store does not answer: ${reason} EVENT_STORE_URL says where it is.`;
  const isPostgres =
    typeof code === 'string' ? NOT_REACHED.includes(code) || NOT_LET_IN.test(code) : message === POOL_TIMEOUT;
  return isPostgres ? `Postgres does not answer: ${reason}. DATABASE_URL says where it is.` : null;
};
