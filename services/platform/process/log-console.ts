import { format } from 'node:util';
import { hideTokens, type Log } from '../logger.ts';

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const;

/** Libraries print with `console`, but every line of the process is JSON. */
export const logConsole = (log: Log): void => {
  for (const [method, level] of Object.entries(LEVELS)) {
    console[method as keyof typeof LEVELS] = (...values: unknown[]) => {
      log[level]({ printed: hideTokens(format(...values)) }, 'printed by a library');
    };
  }
};
