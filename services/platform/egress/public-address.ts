import ipaddr from 'ipaddr.js';

// Rules for addresses that may be called on behalf of users: only globally reachable unicast, by the special-purpose
// registries of IANA (RFC 6890), as implemented by `ipaddr.js`. A text that is not an address is rejected.

/** Range of all global unicast IPv6 addresses (RFC 4291). All addresses outside are special. */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** IPv6 ranges that embed an IPv4 address. Packets reach the IPv4 address, so that address is checked. */
const CARRIERS = [
  // IPv4-mapped, RFC 4291.
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), at: 12 },
  // NAT64, RFC 6052. The local-use prefix (RFC 8215) leads into a private network and is deliberately absent.
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), at: 12 },
  // 6to4, RFC 3056.
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), at: 2 },
] as const;
const V4_BYTES = 4;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses four-part decimal IPv4 and standard IPv6. Returns `null` for any other text, including zones. */
const parse = (text: string): Address | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : null;
};

/** Returns the IPv4 address embedded in an IPv6 address, or the address itself. */
const effectiveAddress = (address: Address): Address => {
  if (address instanceof ipaddr.IPv4) return address;
  const carrier = CARRIERS.find(({ range }) => address.match(range));
  if (carrier === undefined) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(carrier.at, carrier.at + V4_BYTES));
};

/** True for a globally reachable unicast address. */
export const isGloballyReachable = (text: string): boolean => {
  const parsed = parse(text);
  if (parsed === null) return false;
  const address = effectiveAddress(parsed);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_V6);
};

/** True for a loopback address, also when it is embedded in an IPv6 address. */
export const isLoopback = (text: string): boolean => {
  const parsed = parse(text);
  return parsed !== null && effectiveAddress(parsed).range() === 'loopback';
};
