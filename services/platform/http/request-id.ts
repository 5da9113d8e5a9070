import { randomUUID } from 'node:crypto';

/** Ids of callers must be safe in headers, logs and events. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
