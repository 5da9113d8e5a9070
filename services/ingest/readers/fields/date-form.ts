import { z } from 'zod';
import { CalendarDate } from '#contracts/values/primitives.ts';

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const PART_OF: { readonly [letter: string]: string } = {
  Y: 'year',
  M: 'month',
  D: 'day',
  H: 'hour',
  h: 'hour',
  m: 'minute',
  s: 'second',
  A: 'half',
};
const PARTS = /\[([^\]]*)\]|(YYYY|M{1,4}|DD?|HH?|hh?|mm|ss|A)|([\s\S])/g;

const textOfToken = (token: string): string => {
  if (token === 'A') return '[ap]m';
  if (token.startsWith('MMM')) return String.raw`[a-z]{3,9}\.?`;
  return String.raw`\d{${token.length === 1 ? '1,2' : token.length}}`;
};

/** `null` without exactly one year, month and day, or with variable lengths side by side. */
const patternOf = (form: string): RegExp | null => {
  let pattern = '';
  let isOpen = false;
  const parts: string[] = [];
  for (const [, literal, token, sign = ''] of form.matchAll(PARTS)) {
    if (token === undefined) {
      isOpen = false;
      pattern += (literal ?? sign)
        .replaceAll(/[^\w\s]/g, String.raw`\$&`)
        .replaceAll(/\s+/g, String.raw`\s+`);
      continue;
    }
    const part = PART_OF[token.charAt(0)] ?? '';
    if (isOpen || parts.includes(part)) return null;
    isOpen = token.length === 1 && token !== 'A';
    parts.push(part);
    pattern += `(?<${part}>${textOfToken(token)})`;
  }
  const isWhole = ['year', 'month', 'day'].every((part) => parts.includes(part));
  return isWhole ? new RegExp(`^${pattern}$`, 'i') : null;
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
  const dates = forms.map((form) => {
    if (!patterns.has(form)) patterns.set(form, patternOf(form));
    return dateIn(patterns.get(form)?.exec(text.trim())?.groups);
  });
  const found = new Set(dates.filter((date) => date !== null));
  return found.size === 1 ? ([...found][0] ?? null) : null;
};

const dateIn = (parts: { readonly [part: string]: string | undefined } | undefined): string | null => {
  if (parts === undefined) return null;
  const { year, month = '', day = '', hour, minute = '00', second = '00', half } = parts;
  const number = /^\d/.test(month) ? month : monthNamed(month);
  const date = `${year}-${number.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (!CalendarDate.safeParse(date).success) return null;
  if (hour === undefined) return date;
  if (half !== undefined && Number(hour) > 12) return null;
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (/^p/i.test(half) ? 12 : 0));
  return `${date}T${hours.padStart(2, '0')}:${minute}:${second}`;
};

const monthNamed = (name: string): string => {
  const index = MONTHS.findIndex((month) => month.startsWith(name.toLowerCase().replace('.', '')));
  return index === -1 ? '' : String(index + 1);
};
