import { pick } from 'es-toolkit/object/pick';
import { withBelievableDates } from '#contracts/observations/ad-dates.ts';
import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import { BLANK_AD, type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { buttonLabel, countryCode, languageCode, platformCode } from '#contracts/values/codes.ts';
import { AdFormat, CalendarDate } from '#contracts/values/primitives.ts';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { versionsOf } from '#domain/shapes/library-ad.ts';
import { idsOf, idText, scalarOf, shown } from './ad-ids.ts';
import { dateInForm } from './date-form.ts';
import { isBlankText, listNotation } from './list-notation.ts';
import { type AdCard, type AdRecord, NO_HINTS, RecordFault, type ScanHints } from '../record.ts';

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
    : /^\d{4}([-/.])\d{2}\1\d{2}(?=$|[T ]\d{2}:)/.exec(text)?.[0].replaceAll(/[/.]/g, '-');
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

/** `null` when there are none. Throws `RecordFault` for any other text, because it would be shown as a code. */
const codesOf = (
  noun: string,
  value: unknown,
  codeIn: (text: string) => string | null,
  isBlank: (text: string) => boolean = isBlankText,
): string[] | null => {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const codes = texts
    .map((text) => (typeof text === 'string' ? text : JSON.stringify(text ?? null)))
    .flatMap((text) => listNotation(text)?.items ?? [text])
    .flatMap((text) => text.split(SEPARATORS))
    .map((text) => text.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter((text) => text !== '' && !isBlank(text))
    .map((text) => {
      const code = codeIn(text);
      if (code !== null) return code;
      throw new RecordFault(`${shown(text)} is not a ${noun}`, `correct it, or leave it blank`);
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
  if (typeof value !== 'string')
    return (Array.isArray(value) ? value : [value]).map(textOf).filter((text) => text !== null);
  const list = listNotation(value);
  if (list?.isCertain === true) return textsOf(list.items);
  if (!isJsonWithText(value.trim())) return textsOf([value]);
  throw new RecordFault(
    `${shown(value)} is JSON, but no list of texts`,
    'write the texts alone, or let a mapping name them',
  );
};

export const platformsOf = (value: unknown, notes: string[]): string[] | null => {
  if (!/^\s*\d+ platforms?\s*$/i.test(String(value)))
    return codesOf('platform', value, platformCode)?.toSorted() ?? null;
  notes.push('platforms are only counted');
  return null;
};

/** Returns countries, or `ALL`. `NA` is Namibia, not a blank. */
export const countriesOf = (value: unknown): readonly string[] | null =>
  codesOf(
    'country',
    value,
    (text) => (/^all$/i.test(text) ? 'ALL' : countryCode(text)),
    (text) => text !== 'NA' && isBlankText(text),
  );

export const ctaLabelOf = (value: unknown): string | null => {
  const label = textOf(value)?.replaceAll(/\s+/g, ' ') ?? null;
  return label === null ? null : (buttonLabel(label) ?? label);
};

const YES = 'true t 1 1.0 yes y on active running live'.split(' ');
const NO = 'false f 0 0.0 no n off inactive ended stopped finished completed expired'.split(' ');

/** `null` when the value is blank, and with a note when it is an unknown word. */
export const flagOf = (value: unknown, notes: string[]): boolean | null => {
  const flag = scalarOf('is_active', value);
  if (typeof flag === 'boolean') return flag;
  const word = idText(flag)?.toLowerCase() ?? '';
  if (YES.includes(word)) return true;
  if (word !== '' && !NO.includes(word)) notes.push('is_active is neither yes nor no');
  return NO.includes(word) ? false : null;
};

/** `name`: used in a refusal. `forms`: the mapping's forms instead of ISO 8601. */
type DateField = { readonly name: string; readonly forms?: readonly string[] | undefined };

/** Raw values by field. Texts of several versions are a list, or a text in the notation of one. */
export type GivenAd = { readonly [Field in keyof ObservedAd]?: unknown };

/**
 * Converts the values of a record to an ad; other fields are unknown. `parts`: objects with addresses that confirm ids.
 * Texts keep their length until all rows of the ad are merged. Throws `RecordFault`.
 */
export const adRecord = (
  at: Pick<AdRecord, 'line' | 'raw'>,
  given: GivenAd,
  parts: readonly JsonObject[],
  hints: Partial<ScanHints>,
  {
    notes = [],
    start = { name: 'the start date' },
    stop = { name: 'the stop date' },
  }: { readonly notes?: string[]; readonly start?: DateField; readonly stop?: DateField } = {},
): AdRecord => {
  const { checked, ...ids } = idsOf({ ad: given.ad_id, page: given.page_id }, parts, notes);
  const bodies = textsOf(given.body);
  const titles = textsOf(given.title);
  const descriptions = textsOf(given.link_description);
  const ad = checkedAd(
    UncutAd.safeParse({
      ...BLANK_AD,
      ...given,
      ...ids,
      page_name: textOf(given.page_name),
      is_active: flagOf(given.is_active, notes),
      started_on: dateOf(start.name, given.started_on, start.forms),
      stopped_on: dateOf(stop.name, given.stopped_on, stop.forms),
      body: bodies[0] ?? null,
      title: titles[0] ?? null,
      link_description: descriptions[0] ?? null,
      caption: textsOf(given.caption)[0] ?? null,
      cta_type: codeOf('cta_type', given.cta_type, notes),
      cta_text: ctaLabelOf(given.cta_text),
      link_url: textOf(given.link_url),
      format: formatOf(given.format, notes),
      platforms: platformsOf(given.platforms, notes),
      languages: codesOf('language', given.languages, languageCode),
      versions: versionsOf(bodies, titles, descriptions),
    }),
  );
  const version = { key: null, card: cardOfAd(ad) };
  return { kind: 'ad', ...at, ad, version, hints: { ...NO_HINTS, ...hints }, notes, checked };
};

export const cardOfAd = (ad: ObservedAd): AdCard =>
  pick(ad, ['body', 'title', 'link_description', 'cta_text', 'link_url']);

export const checkedAd = (result: ReturnType<typeof UncutAd.safeParse>): ObservedAd => {
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') || 'the record';
  throw new RecordFault(`${field} is not valid: ${issue?.message ?? 'unknown fault'}`, 'fix the field');
};

/** The library gives the last day on which it saw a running ad in its own zone. */
const LAST_SEEN_DAYS = 2;

/**
 * Drops dates that cannot be true at the scan. The end date of an ad that may run is a stop date only before the scan's
 * day (rules 1, 7).
 */
export const withDatesAt = (record: AdRecord, scannedAt: string): AdRecord => {
  const { ad, notes } = withBelievableDates(record.ad, scannedAt);
  const lastSeen = utcDateOfMs(Date.parse(scannedAt) - LAST_SEEN_DAYS * DAY_MS);
  const isSeen = record.mayBeLastSeen === true && ad.stopped_on !== null && ad.stopped_on > lastSeen;
  if (notes.length === 0 && !isSeen) return record;
  return {
    ...record,
    ad: isSeen ? { ...ad, stopped_on: null } : ad,
    notes: [...(record.notes ?? []), ...notes],
  };
};
