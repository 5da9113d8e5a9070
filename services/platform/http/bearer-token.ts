import type { IncomingHttpHeaders } from 'node:http';

/** The scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i;

/** `undefined` when the header is missing or has another scheme. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];
