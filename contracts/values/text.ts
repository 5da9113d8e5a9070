import { hash } from 'node:crypto';
import { z } from 'zod';
import { observedLink } from './links/observed-link.ts';

/** Postgres cannot store NUL or unpaired surrogates. They are rejected, so that stored texts return unchanged. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');
const NOT_STORABLE = 'a NUL character or half a surrogate pair occurs in no text';
/** An empty text passes, because the minimum length rejects it. */
const isVisible = (text: string): boolean => text === '' || /[^\p{Z}\p{Cc}\p{Cf}]/u.test(text);
const hasNoLineBreak = (text: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);

export const observedText = (maxLength: number) => z.string().max(maxLength).refine(isStorable, NOT_STORABLE);

/** For texts that are cut to their limit and not refused. */
export const uncutText = () => z.string().refine(isStorable, NOT_STORABLE);

export const uncutWebAddress = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine(isStorable, NOT_STORABLE)
    .overwrite((url) => observedLink(url) ?? url)
    // Other schemes, which could run a script, are refused above.
    .refine(
      (url) => observedLink(url) === url || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''),
      'an address without user information and invisible characters',
    );

/** A longer URL becomes `null`, because a cut one would lead elsewhere. */
export const boundedWebAddress = (maxLength: number) =>
  uncutWebAddress().transform((url) => (url.length > maxLength ? null : url));

/** A longer key becomes `null`, because a cut one names something else. */
export const boundedKeyText = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .refine(isStorable, NOT_STORABLE)
    .transform((key) => (key.length > maxLength ? null : key));

/** A single line with a visible character. */
export const nameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');

export const proseText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(isStorable, NOT_STORABLE)
    .refine(isVisible, 'a text shows something');

export const CUT_MARK = '…';

/** In UTF-16 units. Halves no character. */
export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${wellFormed(text.slice(0, maxLength - CUT_MARK.length))}${CUT_MARK}`;

const wellFormed = (text: string): string => text.replace(/[\uD800-\uDBFF]$/, '');

const ENCODER = new TextEncoder();
const jsonBytes = (value: unknown): number => ENCODER.encode(JSON.stringify(value)).length;

/** At most `maxBytes` as JSON. `mark` counts as an item. */
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

/** Longer texts, also by bytes as JSON, are cut. */
export const cutObservedText = (maxLength: number, maxBytes: number) =>
  z
    .string()
    .overwrite((text) => cutTextToBytes(cutText(text, maxLength), maxBytes))
    .refine(isStorable, NOT_STORABLE);

export const cutTrimmedText = (maxLength: number) =>
  z
    .string()
    .trim()
    .overwrite((text) => cutText(text, maxLength))
    .min(1)
    .refine(isStorable, NOT_STORABLE);

export const cutProseText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutText(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(isVisible, 'a text shows something');

export const cutNameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutText(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');

const KEY_DIGEST_DIGITS = 12;

/** In UTF-16 units. The digest of the whole text keeps long keys with one beginning apart. */
export const cutKey = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : cutText(text, maxLength - KEY_DIGEST_DIGITS) + hash('sha256', text, 'hex').slice(0, KEY_DIGEST_DIGITS);

/** As `cutKey`, without `CUT_MARK`: addresses of the API contain slugs. */
export const cutSlug = (slug: string, maxLength: number): string =>
  slug.length <= maxLength
    ? slug
    : `${slug.slice(0, maxLength - KEY_DIGEST_DIGITS - 1)}-${hash('sha256', slug, 'hex').slice(0, KEY_DIGEST_DIGITS)}`;

export const cutKeyText = (maxLength: number) =>
  z
    .string()
    .trim()
    .overwrite((text) => cutKey(text, maxLength))
    .min(1)
    .refine(isStorable, NOT_STORABLE);

export const cutNameKey = (maxLength: number) =>
  z
    .string()
    .min(1)
    .overwrite((text) => cutKey(text, maxLength))
    .refine(isStorable, NOT_STORABLE)
    .refine(hasNoLineBreak, 'a name is one line')
    .refine(isVisible, 'a name shows something');
