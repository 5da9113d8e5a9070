import { randomUUID } from 'node:crypto';

/** A request id from the caller is used when it is safe in headers, logs and events. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

/** Returns the request id of the header, or a new one when the header is missing or not acceptable. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
