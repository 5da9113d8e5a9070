import { z } from 'zod';

/**
 * Checks that Postgres can store a text: no NUL character and no unpaired surrogate. Such texts are rejected, so
 * that every stored text is returned unchanged.
 */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');
const NOT_STORABLE = 'a NUL character or half a surrogate pair occurs in no text';
/**
 * Checks that a text has a visible character. An empty text passes, because the minimum length already rejects it.
 */
const isVisible = (text: string): boolean => text === '' || /[^\p{Z}\p{Cc}\p{Cf}]/u.test(text);
const hasNoLineBreak = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);

/** Text as a source shows it. It may be blank. */
export const observedText = (maxLength: number) => z.string().max(maxLength).refine(isStorable, NOT_STORABLE);

/** Observed text, trimmed and not empty. */
export const trimmedText = (maxLength: number) =>
  z.string().trim().min(1).max(maxLength).refine(isStorable, NOT_STORABLE);

/** An http or https URL. Other schemes are rejected, so that showing it as a link cannot run a script. */
export const webAddress = (maxLength: number) =>
  z
    .url({ protocol: /^https?$/ })
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE);

/** A name: a single line with a visible character. */
export const nameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');

/** Text of any number of lines with a visible character. */
export const proseText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(isVisible, 'a text shows something');
