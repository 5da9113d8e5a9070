import { isIPv6 } from 'node:net';

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
