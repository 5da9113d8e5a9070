import { z } from 'zod';

/**
 * Text that people write. Postgres holds no NUL character and no half of a surrogate pair, so no text has one:
 * what was sent is what is shown, to the letter.
 */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');
const NOT_STORABLE = 'a NUL character or half a surrogate pair occurs in no text';
/** Of an empty text it is said already that it is too short. */
const isVisible = (text: string): boolean => text === '' || /[^\p{Z}\p{Cc}\p{Cf}]/u.test(text);
const hasNoLineBreak = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);

/** Text as a source shows it, which may be blank. */
export const observedText = (maxLength: number) => z.string().max(maxLength).refine(isStorable, NOT_STORABLE);

/** Observed text without white space around it, that says something. */
export const trimmedText = (maxLength: number) =>
  z.string().trim().min(1).max(maxLength).refine(isStorable, NOT_STORABLE);

/** An address on the web: whoever shows it as a link runs no script by that. */
export const webAddress = (maxLength: number) =>
  z
    .url({ protocol: /^https?$/ })
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE);

/** A name: one line that shows something. */
export const nameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');

/** Text of any number of lines that shows something. */
export const proseText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(isVisible, 'a text shows something');
