import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields first, constant message. Never a key, a secret or an address of a person. */
export const createLog = (name: string, level: string): Log =>
  pino({
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['authorization', '*.authorization', 'key', 'api_key', 'secret', '*.secret'],
      censor: '[hidden]',
    },
  });

export const silentLog = (): Log => pino({ level: 'silent' });
