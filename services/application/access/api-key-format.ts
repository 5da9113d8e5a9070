import { keyFormatOf } from './key-format.ts';

export const KEY_PREFIX = 'svc_live_';

const format = keyFormatOf(KEY_PREFIX);

/** `random(62)` returns an integer from 0 to 61. */
export const createKeyText = format.create;

export const isKeyText = format.isValid;

export { lastFourOf, sha256Of } from './key-format.ts';
