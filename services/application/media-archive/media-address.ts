import { hash } from 'node:crypto';
import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';

/** Shortest validity of a library address in recorded data. */
const VALID_MIN_MS = 34 * HOUR_MS;
/** An address that states no end is tried this long. */
const TRIED_MS = 7 * 24 * HOUR_MS;
/** Longer addresses are not fetched. */
const ADDRESS_MAX_CHARACTERS = 4_096;
const FILE_NAME = /\.(jpe?g|png|webp|gif|mp4|m4v|webm)$/i;

export type MediaAddress = {
  readonly url: string;
  /** SHA-256 of the address without its signature: new addresses of a file have the same key. */
  readonly fileKey: string;
  /** End of the address as stated, or else the earliest known end of library addresses. */
  readonly expiresAt: Date;
  /** Not tried after this time. */
  readonly tryUntil: Date;
};

/** Seconds since 1970 in hex, in the parameter `oe`; `null` without one. */
const statedEndMs = ({ searchParams }: URL): number | null => {
  const text = searchParams.get('oe') ?? '';
  return /^[0-9a-f]{8,9}$/i.test(text) ? Number.parseInt(text, 16) * SECOND_MS : null;
};

/**
 * `null` for a text that is not a web address. Signature and library host change with each scan, and the path names the
 * file; a path without a file name needs its query too.
 */
export const readMediaAddress = (text: string | null, seenAt: Date): MediaAddress | null => {
  if (text === null || text.length > ADDRESS_MAX_CHARACTERS || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  const name = FILE_NAME.test(url.pathname) ? url.pathname : url.pathname + url.search;
  const endMs = statedEndMs(url);
  return {
    url: url.href,
    fileKey: hash('sha256', `${endMs === null ? url.hostname : siteOf(url.hostname)}${name}`, 'hex'),
    expiresAt: new Date(endMs ?? seenAt.getTime() + VALID_MIN_MS),
    tryUntil: new Date(endMs ?? seenAt.getTime() + TRIED_MS),
  };
};

/** The last two labels, because servers of the library differ in those before. */
const siteOf = (hostname: string): string => hostname.split('.').slice(-2).join('.');
