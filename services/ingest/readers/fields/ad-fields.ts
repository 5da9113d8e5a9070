import { utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import { BLANK_AD, type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { buttonLabel, countryCode, languageCode, platformCode } from '#contracts/values/codes.ts';
import { AdFormat, CalendarDate } from '#contracts/values/primitives.ts';
import { idText, scalarOf, shown } from './ad-ids.ts';
import { isBlankText } from './blank-text.ts';
import { dateInForm } from './date-form.ts';
import { listNotation } from './list-notation.ts';
import { type AdCard, RecordFault } from '../record.ts';

const NO_STOP: readonly string[] = ['999', '9999-12-31'];
/** Errors of a spreadsheet (also a German one), and what JavaScript and R print for values that they cannot write. */
const LOST =
  /^(?:#(?:NAME\?|VALUE!|WERT!|REF!|BEZUG!|NUM!|ZAHL!|NULL!|DIV\/0!)|\[object Object\]|<(?:chr|list|lgl|int|dbl) ?[^<>]*>)$/;

export const textOf = (value: unknown): string | null => {
  if (typeof value !== 'string' || isBlankText(value)) return null;
  const text = value.trim();
  if (!LOST.test(text)) return text;
  throw new RecordFault(
    `has ${text}, which a program wrote in place of a value`,
    'export the value again, or leave it blank',
  );
};

/** YYYY-MM-DD. ISO 8601 keeps its own day. `null` when blank or "not stopped". Throws `RecordFault`. */
export const dateOf = (name: string, value: unknown, forms?: readonly string[]): string | null => {
  const text = idText(scalarOf(name, value));
  if (text === null || text === '0' || NO_STOP.includes(text)) return null;
  const [, unix, thousandths = ''] = forms ? [] : (/^(\d{9,10})(\d{3})?(?:\.0+)?$/.exec(text) ?? []);
  if (unix !== undefined) return utcDateOfMs(Number(`${unix}${thousandths.padEnd(3, '0')}`));
  const day = forms
    ? utcDate(dateInForm(forms, text) ?? '')
    : /^(\d{4}-\d{2}-\d{2})(?:$|[T ]\d{2}:)/.exec(text)?.[1];
  if (day !== undefined && CalendarDate.safeParse(day).success) return day;
  throw new RecordFault(
    `${name} ${shown(text)} is not a date${forms ? ` of the form ${forms.join(' or ')}` : ''}`,
    'write it as YYYY-MM-DD, or let a mapping name its form',
  );
};

export const formatOf = (value: unknown, notes: string[]): AdFormat | null => {
  const name = codeOf('format', value, notes)?.toLowerCase();
  return name === undefined ? null : (AdFormat.safeParse(name).data ?? 'other');
};

/** Upper case, such as `SHOP_NOW`. `null` with a note for another form. */
export const codeOf = (field: string, value: unknown, notes: string[]): string | null => {
  const code = textOf(value)
    ?.toUpperCase()
    .replaceAll(/[\s-]+/g, '_');
  if (code === undefined || /^[A-Z][A-Z0-9]*(_[A-Z0-9]+){0,9}$/.test(code)) return code ?? null;
  notes.push(`${field} is not a code`);
  return null;
};

const SEPARATORS = /[,;|\r\n]+/;

const codesIn = (value: unknown, isBlank: (text: string) => boolean = isBlankText): readonly string[] => {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return texts
    .map((text) => (typeof text === 'string' ? text : JSON.stringify(text ?? null)))
    .flatMap((text) => listNotation(text)?.items ?? [text])
    .flatMap((text) => text.split(SEPARATORS))
    .map((text) => text.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter((text) => text !== '' && !isBlank(text));
};

/** `null` when there are none. Throws `RecordFault` for any other text, because it would be shown as a code. */
const checkedCodes = (
  noun: string,
  texts: readonly string[],
  codeIn: (text: string) => string | null,
): string[] | null => {
  const codes = texts.map((text) => {
    const code = codeIn(text);
    if (code === null)
      throw new RecordFault(`${shown(text)} is not a ${noun}`, `correct it, or leave it blank`);
    return code;
  });
  return codes.length === 0 ? null : [...new Set(codes)];
};

/** JSON, or a value that Python printed, with a text in it. */
const isJsonWithText = (text: string): boolean =>
  /^[[{][\s\S]*["'][\s\S]*[\]}]$/.test(text) &&
  [text, text.replaceAll("'", '"')].some((json) => {
    try {
      return typeof JSON.parse(json) === 'object';
    } catch {
      return false;
    }
  });

/** Throws `RecordFault` for a nested list or an object, which would be shown as copy. */
export const textsOf = (value: unknown): readonly string[] => {
  const list = typeof value === 'string' ? listNotation(value) : null;
  if (typeof value === 'string' && list?.isCertain !== true && isJsonWithText(value.trim()))
    throw new RecordFault(
      `${shown(value)} is JSON, but no list of texts`,
      'write the texts alone, or let a mapping name them',
    );
  const texts: readonly unknown[] = Array.isArray(value)
    ? value
    : list?.isCertain === true
      ? list.items
      : [value];
  return texts.map(textOf).filter((text) => text !== null);
};

export const platformsOf = (value: unknown, notes: string[]): string[] | null => {
  const names = codesIn(value);
  if (!names.some((name) => /^\d+ platforms?$/i.test(name)))
    return checkedCodes('platform', names, platformCode)?.toSorted() ?? null;
  notes.push('platforms are only counted');
  return null;
};

export const languagesOf = (value: unknown): string[] | null =>
  checkedCodes('language', codesIn(value), languageCode);

/** Returns countries, or `ALL`. `NA` is Namibia, not a blank. */
export const countriesOf = (value: unknown): readonly string[] | null =>
  checkedCodes(
    'country',
    codesIn(value, (text) => text !== 'NA' && isBlankText(text)),
    (text) => (/^all$/i.test(text) ? 'ALL' : countryCode(text)),
  );

export const ctaLabelOf = (value: unknown): string | null => {
  const label = textOf(value)?.replaceAll(/\s+/g, ' ') ?? null;
  return label === null ? null : (buttonLabel(label) ?? label);
};

const FLAGS: { readonly [word: string]: boolean } = {
  ...Object.fromEntries('true t 1 1.0 yes y on active running live'.split(' ').map((word) => [word, true])),
  ...Object.fromEntries(
    'false f 0 0.0 no n off inactive ended stopped finished completed expired'
      .split(' ')
      .map((word) => [word, false]),
  ),
};

/** `null` when the value is blank, and with a note when it is an unknown word. */
export const flagOf = (value: unknown, notes: string[]): boolean | null => {
  const flag = scalarOf('is_active', value);
  if (typeof flag === 'boolean') return flag;
  const text = idText(flag)?.toLowerCase();
  if (text !== undefined && FLAGS[text] === undefined) notes.push('is_active is neither yes nor no');
  return text === undefined ? null : (FLAGS[text] ?? null);
};

/** Other fields are unknown. Texts keep their length until all rows of the ad are merged. Throws `RecordFault`. */
export const adOf = (fields: Partial<ObservedAd> & { ad_id: string }): ObservedAd =>
  checkedAd(UncutAd.safeParse({ ...BLANK_AD, ...fields }));

export const cardOf = (fields: Partial<AdCard>): AdCard => ({
  body: null,
  title: null,
  link_description: null,
  cta_text: null,
  link_url: null,
  ...fields,
});

export const cardOfAd = (ad: ObservedAd): AdCard => ({
  body: ad.body,
  title: ad.title,
  link_description: ad.link_description,
  cta_text: ad.cta_text,
  link_url: ad.link_url,
});

export const checkedAd = (result: ReturnType<typeof UncutAd.safeParse>): ObservedAd => {
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') || 'the record';
  throw new RecordFault(`${field} is not valid: ${issue?.message ?? 'unknown fault'}`, 'fix the field');
};
