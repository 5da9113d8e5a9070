import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

const CAUSES_MAX = 3;

/** User information in front of a host. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]*@/gi;
/** Query values, also of a path without a host. */
const QUERY_VALUE = /([?&][^\s=&#]{1,100}=)[^\s&#"'<>]+/g;
const KEY = /\b([a-z]{2,12}_(?:[a-z]{2,12}_)?)[0-9A-Za-z]{36}\b/g;
const HIDDEN = '[hidden]';

/** Hides user information, values of parameters, and keys. */
export const hideTokens = (text: string): string =>
  text
    .replaceAll(USER_INFO, `$1${HIDDEN}@`)
    .replaceAll(QUERY_VALUE, `$1${HIDDEN}`)
    .replaceAll(KEY, `$1${HIDDEN}`);

/** Leaves out what drivers attach, such as a rejected row: it can hold personal data. */
export const serializeError = (error: unknown, causes = CAUSES_MAX): unknown => {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'not an error' : error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: hideTokens(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: error.stack && hideTokens(error.stack),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: serializeError(error.cause, causes - 1) }),
  };
};

/** Log calls take fields first and a constant message. Never log keys, secrets or addresses. */
export const createLog = (name: string, level: string, destination?: DestinationStream): Log =>
  pino(
    {
      name,
      level,
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {
        err: (error: unknown) => serializeError(error),
        url: (url: unknown) => (typeof url === 'string' ? hideTokens(url) : url),
      },
      redact: {
        paths: ['authorization', '*.authorization', 'key', 'api_key', 'secret', '*.secret'],
        censor: HIDDEN,
      },
    },
    destination,
  );

export const silentLog = (): Log => pino({ level: 'silent' });
