/** A socket cannot be opened, or broke. */
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

/** The server stops, starts or fails over. 25006: it has become a standby. */
const SERVER_CODES = /^(08...|57P0[1-5]|25006)$/;

/** `pg` and `pg-pool` report ended or silent connections without a code. */
const MESSAGES: ReadonlySet<unknown> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
  'timeout expired',
]);

/** `pg-pool` reports this without a code. */
const POOL_BUSY = 'timeout exceeded when trying to connect';

export class ServerSilent extends Error {
  constructor(milliseconds: number) {
    super(`Postgres sent nothing for ${milliseconds} ms`);
    this.name = 'ServerSilent';
  }
}

/** The connection is of no more use. */
export const isConnectionFailure = (error: unknown): boolean => {
  if (error instanceof ServerSilent) return true;
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return (
    SOCKET_CODES.has(code) || (typeof code === 'string' && SERVER_CODES.test(code)) || MESSAGES.has(message)
  );
};

/** The statement was not sent. */
export const isPoolBusy = (error: unknown): boolean =>
  (error as { readonly message?: unknown } | null | undefined)?.message === POOL_BUSY;
