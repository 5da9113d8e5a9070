import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Causes of a fault that are told with it. */
const CAUSES_MAX = 3;

/**
 * Of a fault, what it is and where. Drivers hang more onto theirs: the row that was refused, the statement's values, the
 * request that was sent. None of that is told.
 */
export const describeFault = (error: unknown, causes = CAUSES_MAX): unknown => {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'not an error' : error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describeFault(error.cause, causes - 1) }),
  };
};

/** Fields first, constant message. Never a key, a secret or an address of a person. */
export const createLog = (name: string, level: string): Log =>
  pino({
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => describeFault(error) },
    redact: {
      paths: ['authorization', '*.authorization', 'key', 'api_key', 'secret', '*.secret'],
      censor: '[hidden]',
    },
  });

export const silentLog = (): Log => pino({ level: 'silent' });
