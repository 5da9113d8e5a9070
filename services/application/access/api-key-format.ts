import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An API key is `svc_live_`, 30 random base62 characters (178 bits), and the CRC-32 of all before as 6 base62
 * characters. The checksum tells a mistyped or invented key from a real one without asking anybody.
 */
export const KEY_PREFIX = 'svc_live_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^svc_live_[0-9A-Za-z]{36}$/;

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

/** `random(62)` gives a whole number below 62. */
export const createKeyText = (random: (below: number) => number = randomInt): string => {
  let text = KEY_PREFIX;
  for (let place = 0; place < RANDOM_LENGTH; place += 1) text += BASE62[random(BASE62.length)];
  return text + checksumOf(text);
};

export const isKeyText = (text: string): boolean =>
  SHAPE.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

/** What is stored of a key. A plain hash suffices, since the key's own randomness rules guessing out. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex');

export const lastFourOf = (text: string): string => text.slice(-4);
