import type { IncomingHttpHeaders } from 'node:http';
import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** The scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i;

/** `undefined` when the header is missing or has another scheme. */
export const bearerOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];

/** Ids of callers must be safe in headers, logs and events. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,64}$/;

export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();

/** One customer of a network gets a /64. */
const GROUPS_OF_NETWORK = 4;

/** Groups have 16 bits. An IPv4 address is its own network. */
export const networkOf = (address: string, groups = GROUPS_OF_NETWORK): string => {
  if (!isIPv6(address)) return address;
  const v4 = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].slice(0, groups).join(':');
};
