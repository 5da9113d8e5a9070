import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

export type KeyFormat = {
  /** `random(62)` returns an integer from 0 to 61. */
  readonly create: (random?: (below: number) => number) => string;
  /** Checks format and checksum, without a database. */
  readonly isValid: (text: string) => boolean;
};

/**
 * A key is the prefix, 30 base62 characters (178 bits) and its CRC-32 in 6 base62 characters, which rejects mistyped
 * and invented keys without a query.
 */
export const keyFormatOf = (prefix: string): KeyFormat => {
  const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
  return {
    create: (random = randomInt) => {
      let text = prefix;
      for (let index = 0; index < RANDOM_LENGTH; index += 1) text += BASE62[random(BASE62.length)];
      return text + checksumOf(text);
    },
    isValid: (text) =>
      shape.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH),
  };
};

/** A hash without salt is enough: a key has 178 random bits. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex');

export const lastFourOf = (text: string): string => text.slice(-4);

export const KEY_PREFIX = 'svc_live_';

const format = keyFormatOf(KEY_PREFIX);

/** `random(62)` returns an integer from 0 to 61. */
export const createKeyText = format.create;

export const isKeyText = format.isValid;
