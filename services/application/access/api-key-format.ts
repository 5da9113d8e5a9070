import { keyFormatOf } from './key-format.ts';

/** Prefix of an API key. `key-format.ts` has the rest of the format. */
export const KEY_PREFIX = 'svc_live_';

const format = keyFormatOf(KEY_PREFIX);

/** Creates a random API key. `random(62)` returns an integer from 0 to 61. */
export const createKeyText = format.create;

/** Checks the format and the checksum of a key, without a database. */
export const isKeyText = format.isValid;

export { lastFourOf, sha256Of } from './key-format.ts';
