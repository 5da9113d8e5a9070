import { hash } from 'node:crypto';
import { z } from 'zod';
import { observedLink } from './links/observed-link.ts';

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

/** Observed text of any length. For texts that are cut to their limit and not refused. */
export const uncutText = () => z.string().refine(isStorable, NOT_STORABLE);

/** Observed text, trimmed and not empty. */
export const trimmedText = (maxLength: number) =>
  z.string().trim().min(1).max(maxLength).refine(isStorable, NOT_STORABLE);

/**
 * An http or https URL of any length. For URLs that are left out above a limit and not refused. Other schemes are rejected,
 * so that showing it as a link cannot run a script.
 */
export const uncutWebAddress = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine(isStorable, NOT_STORABLE)
    .overwrite((url) => observedLink(url) ?? url)
    // Addresses with other schemes are reported above.
    .refine(
      (url) => observedLink(url) === url || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''),
      'an address without user information and invisible characters',
    );

/** An http or https URL. A longer one becomes `null`, because a cut URL would lead elsewhere. */
export const boundedWebAddress = (maxLength: number) =>
  uncutWebAddress().transform((url) => (url.length > maxLength ? null : url));

/** A key of another system, trimmed and not empty. A longer one becomes `null`, because a cut key names something else. */
export const boundedKeyText = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .refine(isStorable, NOT_STORABLE)
    .transform((key) => (key.length > maxLength ? null : key));

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

/** Mark at the end of a text, or of a list of texts, that was cut. */
export const CUT_MARK = '…';

/** Returns the text with at most `maxLength` UTF-16 units. A cut text ends with `CUT_MARK`; no character is halved. */
export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${wellFormed(text.slice(0, maxLength - CUT_MARK.length))}${CUT_MARK}`;

const wellFormed = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '');

const ENCODER = new TextEncoder();
const jsonBytes = (value: unknown): number => ENCODER.encode(JSON.stringify(value)).length;

/**
 * Returns the first items of the list, at most `maxItems` and at most `maxBytes` as JSON. A cut list ends with `mark`,
 * which counts as an item.
 */
export const cutList = <Item>(
  items: readonly Item[],
  { maxItems, maxBytes, mark }: { readonly maxItems: number; readonly maxBytes: number; readonly mark: Item },
): Item[] => {
  if (items.length <= maxItems && jsonBytes(items) <= maxBytes) return [...items];
  const kept: Item[] = [];
  let bytes = jsonBytes([mark]);
  for (const item of items) {
    bytes += jsonBytes(item) + 1;
    if (kept.length >= maxItems - 1 || bytes > maxBytes) break;
    kept.push(item);
  }
  return [...kept, mark];
};

/** Returns the text with at most `maxBytes` as JSON. A cut text ends with `CUT_MARK`. */
export const cutTextToBytes = (text: string, maxBytes: number): string => {
  if (jsonBytes(text) <= maxBytes) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(`${wellFormed(text.slice(0, middle))}${CUT_MARK}`) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  return `${wellFormed(text.slice(0, fits))}${CUT_MARK}`;
};

/** Text as a source shows it. It may be blank. A text with more characters, or more bytes as JSON, is cut. */
export const cutObservedText = (maxLength: number, maxBytes: number) =>
  z
    .string()
    .overwrite((text) => cutTextToBytes(cutText(text, maxLength), maxBytes))
    .refine(isStorable, NOT_STORABLE);

/** Observed text, trimmed and not empty. A longer text is cut, so that its length alone never rejects an observation. */
export const cutTrimmedText = (maxLength: number) =>
  z
    .string()
    .trim()
    .overwrite((text) => cutText(text, maxLength))
    .min(1)
    .refine(isStorable, NOT_STORABLE);

/** Text of any number of lines with a visible character. A longer one is cut. */
export const cutProseText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutText(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(isVisible, 'a text shows something');

/** A name: a single line with a visible character. A longer one is cut. */
export const cutNameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutText(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');

/** Hexadecimal digits of the digest at the end of a cut key. */
const KEY_DIGEST_DIGITS = 12;

/**
 * Returns a text that identifies something with at most `maxLength` UTF-16 units. A cut key ends with `CUT_MARK` and the
 * first digits of the SHA-256 of the whole text, so that two long keys with one beginning stay apart.
 */
export const cutKey = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : cutText(text, maxLength - KEY_DIGEST_DIGITS) + hash('sha256', text, 'hex').slice(0, KEY_DIGEST_DIGITS);

/**
 * Returns a slug with at most `maxLength` characters. A cut slug ends with `-` and the first digits of the SHA-256 of the
 * whole slug. It has no `CUT_MARK`, because addresses of the API contain slugs.
 */
export const cutSlug = (slug: string, maxLength: number): string =>
  slug.length <= maxLength
    ? slug
    : `${slug.slice(0, maxLength - KEY_DIGEST_DIGITS - 1)}-${hash('sha256', slug, 'hex').slice(0, KEY_DIGEST_DIGITS)}`;

/** Text that identifies something, trimmed and not empty. A longer one is cut as a key. */
export const cutKeyText = (maxLength: number) =>
  z
    .string()
    .trim()
    .overwrite((text) => cutKey(text, maxLength))
    .min(1)
    .refine(isStorable, NOT_STORABLE);

/** A name that identifies something: a single line with a visible character. A longer one is cut as a key. */
export const cutNameKey = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutKey(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');
