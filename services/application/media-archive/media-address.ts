import { hash } from 'node:crypto';
import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';

/** Shortest time for which an address of the library was valid in recorded data, in milliseconds. */
const VALID_MIN_MS = 34 * HOUR_MS;
/** Time for which an address that states no end is tried, in milliseconds. */
const TRIED_MS = 7 * 24 * HOUR_MS;
/** Maximum characters of an address. Longer ones are not fetched. */
const ADDRESS_MAX_CHARACTERS = 4_096;
const FILE_NAME = /\.(jpe?g|png|webp|gif|mp4|m4v|webm)$/i;

export type MediaAddress = {
  readonly url: string;
  /** SHA-256 of the address without its signature. New addresses of a file have the same key. */
  readonly fileKey: string;
  /** Its end: as stated, or else the earliest that is known of addresses of the library. */
  readonly expiresAt: Date;
  /** The time after which it is not tried. */
  readonly tryUntil: Date;
};

/** Returns the end that the parameter `oe` states, as seconds since 1970 in hex; `null` without one. */
const statedEndMs = ({ searchParams }: URL): number | null => {
  const text = searchParams.get('oe') ?? '';
  return /^[0-9a-f]{8,9}$/i.test(text) ? Number.parseInt(text, 16) * SECOND_MS : null;
};

/**
 * Reads the address of a media file that a scan showed at `seenAt`. The signature changes with each scan, and the host of
 * an address of the library, which states its end; the path names the file. A path without the name of a file is not
 * enough, so its query counts too. Returns `null` for a text that is not a web address.
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

/** Returns the last two labels of a host name. The servers of the library differ in the labels before them. */
const siteOf = (hostname: string): string => hostname.split('.').slice(-2).join('.');
