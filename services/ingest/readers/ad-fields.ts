import { utcDateOfMs } from '#contracts/values/time.ts';
import { BLANK_AD, type ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import { type AdFormat, CalendarDate, LibraryId } from '#contracts/values/primitives.ts';
import { pythonList } from './parsing/python-list.ts';
import { type AdCard, RecordFault } from './record.ts';

/** Number of digits that a spreadsheet keeps. It replaces all further digits. */
export const SPREADSHEET_DIGITS = 15;
const SPREADSHEET_ADVICE = 'export again with the ids as text, without passing through a spreadsheet';
/** Values of the stop date that mean "not stopped" in some exports. */
const NO_STOP: readonly string[] = ['999', '9999-12-31'];
const FORMATS: { readonly [name: string]: AdFormat } = {
  video: 'video',
  image: 'image',
  carousel: 'carousel',
  dco: 'dco',
};

/** Button labels of the library by their lower-case form, because collectors capitalize them differently. */
const BUTTON_LABELS = new Map(
  [
    'Apply now',
    'Book now',
    'Buy now',
    'Call now',
    'Contact us',
    'Donate now',
    'Download',
    'Get directions',
    'Get offer',
    'Get quote',
    'Get showtimes',
    'Get tickets',
    'Install app',
    'Install now',
    'Learn more',
    'Like page',
    'Listen now',
    'Open link',
    'Order now',
    'Play game',
    'Request time',
    'Save',
    'See details',
    'See menu',
    'Send message',
    'Send WhatsApp message',
    'Shop now',
    'Sign up',
    'Subscribe',
    'Use app',
    'View Instagram profile',
    'Visit Instagram profile',
    'Watch more',
    'WhatsApp',
  ].map((label) => [label.toLowerCase(), label]),
);

/** Returns the trimmed text. `null` (unknown) when the value is blank or not a string. */
export const textOf = (value: unknown): string | null => {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' ? null : text;
};

/** Returns the value of an id field as text, without validation. `null` when it is blank. */
export const idText = (value: unknown): string | null =>
  typeof value === 'number' ? String(value) : textOf(value);

/**
 * Returns an id as digits. `null` when it is blank or 0. Throws `RecordFault` for a number in exponent form, which a
 * spreadsheet has rounded, and for every other text that is not an id.
 */
export const idOf = (name: string, value: unknown): string | null => {
  const text = idText(value);
  if (text === null || text === '0') return null;
  if (/^\d+([.,]\d+)?[eE]\+?\d+$/.test(text)) {
    throw new RecordFault(`${name} ${text} was damaged by a spreadsheet`, SPREADSHEET_ADVICE);
  }
  if (!LibraryId.safeParse(text).success) {
    throw new RecordFault(
      `${name} ${shown(text)} is not an id of 5 to 20 digits`,
      'write the id as the library shows it',
    );
  }
  return text;
};

/** Like `idOf`, but throws `RecordFault` when the id is missing. */
export const requiredIdOf = (name: string, value: unknown): string => {
  const id = idOf(name, value);
  if (id === null) throw new RecordFault(`${name} is missing`, 'add the id, or remove the record');
  return id;
};

export const isLongId = (id: string): boolean => id.length > SPREADSHEET_DIGITS;
export const damagedBySpreadsheet = (name: string, id: string): RecordFault =>
  new RecordFault(
    `${name} ${id} was damaged by a spreadsheet, as all long ids of this file end in 0`,
    SPREADSHEET_ADVICE,
  );

/**
 * Returns the date of Unix seconds, Unix milliseconds or an ISO 8601 text as YYYY-MM-DD. An ISO text keeps its own day,
 * without conversion to UTC. `null` when it is blank or means "not stopped". Throws `RecordFault` for other texts.
 */
export const dateOf = (name: string, value: unknown): string | null => {
  const text = idText(value);
  if (text === null || text === '0' || NO_STOP.includes(text)) return null;
  if (/^\d{9,10}$/.test(text)) return utcDateOfMs(Number(text) * 1_000);
  if (/^\d{12,13}$/.test(text)) return utcDateOfMs(Number(text));
  const day = /^(\d{4}-\d{2}-\d{2})(?:$|[T ]\d{2}:)/.exec(text)?.[1];
  if (day === undefined || !CalendarDate.safeParse(day).success) {
    throw new RecordFault(`${name} ${shown(text)} is not a date`, 'write it as YYYY-MM-DD');
  }
  return day;
};

export const formatOf = (value: unknown): AdFormat | null => {
  const name = textOf(value)?.toLowerCase() ?? null;
  return name === null ? null : (FORMATS[name] ?? 'other');
};

/** Returns the texts of a list, of a comma-separated text, or of a list in Python notation. `null` when it is empty. */
export const listOf = (value: unknown): readonly string[] | null => {
  const texts = typeof value === 'string' ? (pythonList(value) ?? value.split(',')) : value;
  if (!Array.isArray(texts)) return null;
  const list = texts.map(textOf).filter((text) => text !== null);
  return list.length === 0 ? null : list;
};

/** Returns platforms in lower case and sorted, so that a different order of a collector is not a change. */
export const platformsOf = (value: unknown): string[] | null => {
  const names = listOf(value);
  // A count such as "4 platforms" does not name the platforms.
  if (names === null || names.some((name) => /^\d+ platforms?$/i.test(name))) return null;
  return [...new Set(names.map((name) => name.toLowerCase().replaceAll(/[\s-]+/g, '_')))].toSorted();
};

/** Returns a button label in the library's capitalization. Other texts are returned unchanged. */
export const ctaLabelOf = (value: unknown): string | null => {
  const label = textOf(value)?.replaceAll(/\s+/g, ' ') ?? null;
  return label === null ? null : (BUTTON_LABELS.get(label.toLowerCase()) ?? label);
};
export const isButtonLabel = (text: string): boolean => BUTTON_LABELS.has(text.toLowerCase());

/** Returns a boolean from JSON or from a spreadsheet's text. `null` when the value is neither. */
export const flagOf = (value: unknown): boolean | null => {
  if (typeof value === 'boolean') return value;
  const text = textOf(value)?.toLowerCase();
  if (text === 'true' || text === '1' || text === 'yes' || text === 'active') return true;
  if (text === 'false' || text === '0' || text === 'no' || text === 'inactive') return false;
  return null;
};

/**
 * Creates an ad from the fields of a record; all other fields are unknown (`null` or empty). Texts keep their length
 * until all rows of the ad are merged. Throws `RecordFault` when a field is invalid.
 */
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

/** Returns the fields of an ad in which its versions can differ. */
export const cardOfAd = (ad: ObservedAd): AdCard => ({
  body: ad.body,
  title: ad.title,
  link_description: ad.link_description,
  cta_text: ad.cta_text,
  link_url: ad.link_url,
});

/** Returns the parsed ad. Throws `RecordFault` for the first validation issue. */
export const checkedAd = (result: ReturnType<typeof UncutAd.safeParse>): ObservedAd => {
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') || 'the record';
  throw new RecordFault(`${field} is not valid: ${issue?.message ?? 'unknown fault'}`, 'fix the field');
};

const SHOWN_CHARACTERS = 40;
const shown = (text: string): string =>
  JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
