import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Maximum length of the logged cause chain. */
const CAUSES_MAX = 3;

/**
 * Serialises an error for the log: type, message, code, stack and causes only. Drivers attach more to their errors,
 * such as the rejected row, statement values or the request. These can hold personal data and are left out.
 */
export const serializeError = (error: unknown, causes = CAUSES_MAX): unknown => {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'not an error' : error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined || causes === 0 ? {} : { cause: serializeError(error.cause, causes - 1) }),
  };
};

/** Creates a JSON logger. Call it with fields first and a constant message. Never log keys, secrets or addresses. */
export const createLog = (name: string, level: string): Log =>
  pino({
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => serializeError(error) },
    redact: {
      paths: ['authorization', '*.authorization', 'key', 'api_key', 'secret', '*.secret'],
      censor: '[hidden]',
    },
  });

export const silentLog = (): Log => pino({ level: 'silent' });
