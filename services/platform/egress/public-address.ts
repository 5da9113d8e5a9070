import ipaddr from 'ipaddr.js';
import { networkInterfaces } from 'node:os';
import { REFUSED_RANGES } from './refused-targets.ts';

// Only globally reachable unicast addresses may be called (RFC 6890, as in `ipaddr.js`); no other text.

/** All addresses outside are special (RFC 4291). */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** IPv6 ranges that embed an IPv4 address, which packets reach and which is therefore checked. */
const CARRIERS = [
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), at: 12 },
  // NAT64, RFC 6052. The local-use prefix (RFC 8215) leads into a private network and is deliberately absent.
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), at: 12 },
  // 6to4, RFC 3056.
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), at: 2 },
] as const;
const V4_BYTES = 4;
/** Bytes 8 to 11 of an ISATAP address (RFC 5214, section 6.1), before the IPv4 address of the tunnel's end. */
const ISATAP = [
  [0x00, 0x00, 0x5e, 0xfe],
  [0x02, 0x00, 0x5e, 0xfe],
];
const ISATAP_AT = 8;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Four-part decimal IPv4 and standard IPv6. `null` for other text, including zones. */
const parse = (text: string): Address | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && !text.includes('%') ? ipaddr.IPv6.parse(text) : null;
};

/** Returns the embedded IPv4 address, or the address itself. */
const effectiveAddress = (address: Address): Address => {
  if (address instanceof ipaddr.IPv4) return address;
  const bytes = address.toByteArray();
  const carrier = CARRIERS.find(({ range }) => address.match(range));
  const isIsatap = ISATAP.some((mark) => mark.every((byte, index) => bytes[ISATAP_AT + index] === byte));
  const at = carrier?.at ?? (isIsatap ? ISATAP_AT + V4_BYTES : null);
  return at === null ? address : new ipaddr.IPv4(bytes.slice(at, at + V4_BYTES));
};

const REFUSED = REFUSED_RANGES.map(({ range }) => ipaddr.parseCIDR(range));

const isRefused = (address: Address): boolean =>
  REFUSED.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

/** Also true when one embeds the other in IPv6. */
export const isSameAddress = (one: string, other: string): boolean => {
  const [first, second] = [parse(one), parse(other)];
  if (first === null || second === null) return false;
  return effectiveAddress(first).toNormalizedString() === effectiveAddress(second).toNormalizedString();
};

export const isGloballyReachable = (text: string): boolean => {
  const parsed = parse(text);
  if (parsed === null) return false;
  const address = effectiveAddress(parsed);
  if (address.range() !== 'unicast' || isRefused(address)) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST_V6);
};

export const isLoopback = (text: string): boolean => {
  const parsed = parse(text);
  return parsed !== null && effectiveAddress(parsed).range() === 'loopback';
};

/** Interfaces are read again after this. */
const READ_AGAIN_MS = 10_000;

export const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));

/** Checks addresses of the interfaces, and `more` that lead to this machine. Services here may trust local callers. */
export const ownAddressCheck = (
  more: readonly string[] = [],
  read: () => readonly string[] = interfaceAddresses,
): ((address: string) => boolean) => {
  let known: readonly string[] = [];
  let readAtMs = -Infinity;
  return (address) => {
    if (performance.now() - readAtMs > READ_AGAIN_MS) {
      known = [...more, ...read()];
      readAtMs = performance.now();
    }
    return known.some((own) => isSameAddress(own, address));
  };
};
