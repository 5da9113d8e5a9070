import { hash } from 'node:crypto';

/** A place that a catalogue fills with each product's own words. */
const MACRO = /\{\{[^{}]*\}\}/;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** As many hexadecimal digits as a uuid has, which is what the key is stored as. */
const KEY_DIGITS = 32;

/**
 * What two texts have in common that say the same words in the same order, whatever their capitals, signs, emoji
 * and line breaks. `null`: no copy, as it holds no words, or is a template whose words are put in for each product.
 */
export const copyKeyOf = (body: string | null | undefined): string | null => {
  if (!body || MACRO.test(body)) return null;
  const words = body.normalize('NFKC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim();
  return words === '' ? null : hash('sha256', words, 'hex').slice(0, KEY_DIGITS);
};
