import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that one customer of a network gets: a /64. */
const GROUPS_OF_NETWORK = 4;

/** Returns the network of an IPv6 address, of `groups` groups of 16 bits, and an IPv4 address itself. */
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
