import { z } from 'zod';
import { CalendarDate } from '#contracts/values/primitives.ts';

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const TOKENS: { readonly [token: string]: readonly [part: string, pattern: string] } = {
  YYYY: ['year', String.raw`\d{4}`],
  MMMM: ['month', String.raw`[a-z]{3,9}\.?`],
  MMM: ['month', String.raw`[a-z]{3,9}\.?`],
  A: ['half', '[ap]m'],
  ...Object.fromEntries(
    Object.entries({ M: 'month', D: 'day', H: 'hour', h: 'hour', m: 'minute', s: 'second' }).flatMap(
      ([letter, part]) => [
        [letter, [part, String.raw`\d{1,2}`]],
        [letter.repeat(2), [part, String.raw`\d{2}`]],
      ],
    ),
  ),
};
const PARTS = /\[([^\]]*)\]|(YYYY|M{1,4}|DD?|HH?|hh?|mm|ss|A)|([\s\S])/g;
/** These tokens vary in length, so another number must not follow. */
const OPEN = /^[MDHh]$/;

/** `null` without exactly one year, month and day, or with variable lengths side by side. */
const patternOf = (form: string): RegExp | null => {
  let pattern = '';
  let before = '';
  const parts = new Set<string>();
  for (const [, literal, token = '', sign = ''] of form.matchAll(PARTS)) {
    const [part, text] = TOKENS[token] ?? [];
    if (part !== undefined && (OPEN.test(before) || parts.has(part))) return null;
    before = token;
    if (part !== undefined) parts.add(part);
    pattern +=
      part === undefined
        ? (literal ?? sign).replaceAll(/[^\w\s]/g, String.raw`\$&`).replaceAll(/\s+/g, String.raw`\s+`)
        : `(?<${part}>${text})`;
  }
  return ['year', 'month', 'day'].every((part) => parts.has(part)) ? new RegExp(`^${pattern}$`, 'i') : null;
};

const DateForm = z
  .string()
  .max(60)
  .refine(
    (form) => patternOf(form) !== null,
    'a form such as DD.MM.YYYY or MMM D, YYYY, with year, month and day',
  );
/** Tokens such as `DD.MM.YYYY`. Month names are English. */
export const DateForms = z.union([DateForm.transform((form) => [form]), z.array(DateForm).min(1).max(10)]);

const patterns = new Map<string, RegExp | null>();

/** ISO 8601 without zone. `null` when no form fits, or two forms give different dates. */
export const dateInForm = (forms: readonly string[], text: string): string | null => {
  const found = new Set<string>();
  for (const form of forms) {
    if (!patterns.has(form)) patterns.set(form, patternOf(form));
    const date = dateIn(patterns.get(form)?.exec(text.trim())?.groups ?? {});
    if (date !== null) found.add(date);
  }
  return found.size === 1 ? ([...found][0] ?? null) : null;
};

const dateIn = (parts: { readonly [part: string]: string | undefined }): string | null => {
  const { year, month = '', day = '', hour, minute = '00', second = '00', half } = parts;
  const named = MONTHS.findIndex((name) => name.startsWith(month.toLowerCase().replace('.', ''))) + 1;
  const date = `${year}-${(/^\d/.test(month) ? month : String(named)).padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (!CalendarDate.safeParse(date).success || (half !== undefined && Number(hour) > 12)) return null;
  if (hour === undefined) return date;
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0));
  return `${date}T${hours.padStart(2, '0')}:${minute}:${second}`;
};
