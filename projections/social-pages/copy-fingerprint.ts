import { hash } from 'node:crypto';

/** A placeholder that a catalogue fills with each product's own words. */
const MACRO = /\{\{[^{}]*\}\}/;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** Hexadecimal digits of a uuid, the column type of the key. */
const KEY_DIGITS = 32;

/**
 * Returns the key of a text's copy. Texts with the same words in the same order have the same key, regardless
 * of case, punctuation, emoji and line breaks. Returns `null` for a text without words, and for a template
 * that is filled in for each product.
 */
export const copyKeyOf = (body: string | null | undefined): string | null => {
  if (!body || MACRO.test(body)) return null;
  const words = body.normalize('NFKC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim();
  return words === '' ? null : hash('sha256', words, 'hex').slice(0, KEY_DIGITS);
};
