import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

/**
 * Loads the HTTP client when the first request needs it. Most processes can send and seldom do, and loading it is a sixth
 * of the time that they take to start.
 */
export const loadUndici = (): typeof Undici => require('undici') as typeof Undici;
