import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';

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

/** Keys of customers, and of a test world (`TEST_MODE`). An installation accepts one of the two. */
export const LIVE_KEY = keyFormatOf('svc_live_');
export const TEST_KEY = keyFormatOf('svc_test_');

export const keyFormatIn = (testMode: boolean): KeyFormat => (testMode ? TEST_KEY : LIVE_KEY);

export const testModeSettings = {
  TEST_MODE: z
    .stringbool()
    .default(false)
    .describe(
      '`true` makes this installation a test world: keys begin with `svc_test_`, and no others are accepted. For the API, and for the operator commands that make keys.',
    ),
} as const;
