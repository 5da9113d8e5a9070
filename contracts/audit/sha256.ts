import { hash } from 'node:crypto';

/** SHA-256 of bytes, or of text in UTF-8, as lower-case hexadecimal. `sha256-browser.js` is the same for browsers. */
export const sha256 = (bytes: string | Uint8Array): string => hash('sha256', bytes, 'hex');
