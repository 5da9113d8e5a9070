import ipaddr from 'ipaddr.js';

/**
 * Which addresses we call on behalf of users: globally reachable unicast only, by IANA's special-purpose registries
 * (RFC 6890) as `ipaddr.js` has them. Anything that cannot be read as an address is refused.
 */

/** IPv6 hands out global unicast from here alone (RFC 4291); whatever lies outside is special, known to us or not. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Addresses that carry an IPv4 one: reached is that one, so it is that one which is judged. */
const CARRIERS = [
  // IPv4-mapped, RFC 4291.
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), at: 12 },
  // NAT64, RFC 6052. Its local-use prefix (RFC 8215) leads into somebody's own network and is not among these.
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), at: 12 },
  // 6to4, RFC 3056.
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), at: 2 },
] as const;
const V4_BYTES = 4;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** In the four-part decimal and the usual hexadecimal form only; `null` for anything else, zones included. */
const parse = (text: string): Address | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : null;
};

/** The IPv4 address inside an IPv6 one, or the address itself. */
const carried = (address: Address): Address => {
  if (address instanceof ipaddr.IPv4) return address;
  const carrier = CARRIERS.find(({ range }) => address.match(range));
  if (carrier === undefined) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(carrier.at, carrier.at + V4_BYTES));
};

export const isGloballyReachable = (text: string): boolean => {
  const parsed = parse(text);
  if (parsed === null) return false;
  const address = carried(parsed);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_V6);
};

/** This machine itself, also where IPv6 carries the address. */
export const isLoopback = (text: string): boolean => {
  const parsed = parse(text);
  return parsed !== null && carried(parsed).range() === 'loopback';
};
