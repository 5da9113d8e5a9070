import { isIP } from 'node:net';
import { isGloballyReachable, isLoopback } from './public-address.ts';

export const TARGET_URL_MAX_LENGTH = 2_048;

/** Names that lead nowhere outside of a machine or a network (RFC 6761, 6762, 8375 and ICANN's `.internal`). */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|home\.arpa|onion|invalid)$/;
const LOCALHOST = /^(.+\.)?localhost$/;

export type TargetRules = {
  /** Of the local stack and of tests: this machine's own addresses are targets too, by http as well. */
  readonly allowLoopback: boolean;
};

/** The host of a URL as the network takes it: without the brackets of an IPv6 literal. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

const namesLoopback = (host: string): boolean => LOCALHOST.test(host) || isLoopback(host);

const faultOfHost = (host: string): string | null => {
  if (host.endsWith('.')) return 'Write the host without a dot at its end.';
  if (isIP(host) !== 0)
    return isGloballyReachable(host) ? null : 'This address is not on the public internet.';
  if (LOCAL_NAMES.test(host) || !host.includes('.')) return 'This host is not on the public internet.';
  return null;
};

/**
 * What is wrong with an address that a user gives us to call, as a sentence, or `null`. Asked where it is given and
 * again before each call. URLs are read as WHATWG says, which turns octal, decimal and hexadecimal hosts into plain
 * ones before they are judged. What a name resolves to is judged when it is called (`guarded-connector.ts`).
 */
export const checkTargetUrl = (text: string, { allowLoopback }: TargetRules): string | null => {
  if (text.length > TARGET_URL_MAX_LENGTH) return `Use a URL of at most ${TARGET_URL_MAX_LENGTH} characters.`;
  if (!URL.canParse(text)) return 'This is not a URL; write one that begins with https://.';
  const url = new URL(text);
  const host = hostOf(url);
  const isOwn = allowLoopback && namesLoopback(host);
  if (url.protocol !== 'https:' && !(isOwn && url.protocol === 'http:')) return 'Use an https URL.';
  if (url.username !== '' || url.password !== '') return 'Leave user name and password out of the URL.';
  return isOwn ? null : faultOfHost(host);
};
