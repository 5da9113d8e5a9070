import { isIP } from 'node:net';
import { isGloballyReachable, isLoopback } from './public-address.ts';
import { REFUSED_NAMES } from './refused-targets.ts';

export const TARGET_URL_MAX_LENGTH = 2_048;

/** Exist only on one machine or network (RFC 6761, 6762, 8375 and ICANN's `.internal`). */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|home\.arpa|onion|invalid)$/;
const LOCALHOST = /^(.+\.)?localhost$/;

export type TargetRules = {
  /** For the local stack and tests: allows loopback addresses, and plain http to them. */
  readonly allowLoopback: boolean;
};

export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

const namesLoopback = (host: string): boolean => LOCALHOST.test(host) || isLoopback(host);

export const isAllowedLoopback = (url: URL, { allowLoopback }: TargetRules): boolean =>
  allowLoopback && namesLoopback(hostOf(url));

const isRefusedName = (host: string): boolean =>
  REFUSED_NAMES.some(({ name }) => host === name || host.endsWith(`.${name}`));

const faultOfHost = (host: string): string | null => {
  if (host.endsWith('.')) return 'Write the host without a dot at its end.';
  if (isIP(host) !== 0)
    return isGloballyReachable(host) ? null : 'This address is not on the public internet.';
  if (LOCAL_NAMES.test(host) || !host.includes('.') || isRefusedName(host))
    return 'This host is not on the public internet.';
  return null;
};

/**
 * Returns the fault as a sentence, or `null`. Runs on submission and before each call. The WHATWG parser normalises
 * octal and hexadecimal hosts first; `ssrf-guard.ts` checks resolved addresses.
 */
export const checkTargetUrl = (text: string, rules: TargetRules): string | null => {
  if (text.length > TARGET_URL_MAX_LENGTH) return `Use a URL of at most ${TARGET_URL_MAX_LENGTH} characters.`;
  if (!URL.canParse(text)) return 'This is not a URL; write one that begins with https://.';
  const url = new URL(text);
  const host = hostOf(url);
  const isOwn = isAllowedLoopback(url, rules);
  if (url.protocol !== 'https:' && !(isOwn && url.protocol === 'http:')) return 'Use an https URL.';
  if (url.username !== '' || url.password !== '') return 'Leave user name and password out of the URL.';
  return isOwn ? null : faultOfHost(host);
};
