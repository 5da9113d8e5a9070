/** Codes of a socket that cannot be opened, or that broke. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** SQLSTATEs of a server that stops, starts or fails over. 25006: it has become a standby. */
const SERVER_CODES = /^(08...|57P0[1-5]|25006)$/;

/** Messages of ended or silent connections, which `pg` and `pg-pool` report without a code. */
const MESSAGES: ReadonlySet<unknown> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
  'timeout expired',
]);

/** Message of a full pool, which `pg-pool` reports without a code. */
const POOL_BUSY = 'timeout exceeded when trying to connect';

export class ServerSilent extends Error {
  constructor(milliseconds: number) {
    super(`Postgres sent nothing for ${milliseconds} ms`);
    this.name = 'ServerSilent';
  }
}

/** True for an error after which the connection must be replaced. */
export const isConnectionFailure = (error: unknown): boolean => {
  if (error instanceof ServerSilent) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return (
    SOCKET_CODES.has(code) || (typeof code === 'string' && SERVER_CODES.test(code)) || MESSAGES.has(message)
  );
};

/** True when no connection became free in time. The statement was not sent. */
export const isPoolBusy = (error: unknown): boolean =>
  (error as { readonly message?: unknown } | null | undefined)?.message === POOL_BUSY;
