import { hash } from 'node:crypto';

/** Placeholder that a catalogue fills with each product's own words. */
const MACRO = /\{\{[^{}]*\}\}/;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** The key is a uuid. */
const KEY_DIGITS = 32;

/**
 * Equal for the same words in the same order, regardless of case, punctuation, emoji and line breaks. `null` for a text
 * without words, and for a template filled per product.
 */
export const copyKeyOf = (body: string | null | undefined): string | null => {
  if (!body || MACRO.test(body)) return null;
  const words = body.normalize('NFKC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim();
  return words === '' ? null : hash('sha256', words, 'hex').slice(0, KEY_DIGITS);
};
