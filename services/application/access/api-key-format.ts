import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Prefix of an API key. A key is the prefix, 30 random base62 characters (178 bits), and a checksum: the CRC-32 of
 * the preceding text as 6 base62 characters. The checksum rejects mistyped and invented keys without a query.
 */
export const KEY_PREFIX = 'svc_live_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^svc_live_[0-9A-Za-z]{36}$/;

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

/** Creates a random API key. `random(62)` returns an integer from 0 to 61. */
export const createKeyText = (random: (below: number) => number = randomInt): string => {
  let text = KEY_PREFIX;
  for (let index = 0; index < RANDOM_LENGTH; index += 1) text += BASE62[random(BASE62.length)];
  return text + checksumOf(text);
};

/** Checks the format and the checksum of a key, without a database. */
export const isKeyText = (text: string): boolean =>
  SHAPE.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

/** Returns the SHA-256 under which a key is stored. A hash without salt is enough: a key has 178 random bits. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex');

export const lastFourOf = (text: string): string => text.slice(-4);
