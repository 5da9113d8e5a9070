import { randomUUID } from 'node:crypto';

/** A caller's own id is kept when it can stand in headers, logs and events as it is. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
