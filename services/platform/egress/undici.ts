import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

/** Loads the client with the first request, because loading takes a sixth of a process's start. */
export const loadUndici = (): typeof Undici => require('undici') as typeof Undici;
