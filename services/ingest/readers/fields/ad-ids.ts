import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import {
  addIdsOfAddress,
  type NamedIds,
  namedIds,
  noIds,
} from '#contracts/values/links/library-addresses.ts';
import { LibraryId } from '#contracts/values/primitives.ts';
import { isBlankText } from './list-notation.ts';
import { RecordFault } from '../record.ts';

export const SPREADSHEET_DIGITS = 15;
const ADVICE = 'export again with the ids as text, without passing through a spreadsheet';

export const idText = (value: unknown): string | null => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !isBlankText(value) ? value.trim() : null;
};

/**
 * The value in a list of one, which R writes, or in `{"$date": …}` or `{"$numberLong": …}` of MongoDB. Throws `RecordFault`
 * for any other list or object that is not empty.
 */
export const scalarOf = (name: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  const [[key, inner] = [], ...others] = Object.entries(value) as readonly (readonly [string, unknown])[];
  if (key === undefined) return null;
  if (others.length === 0 && (Array.isArray(value) || key.startsWith('$'))) return scalarOf(name, inner);
  const is = Array.isArray(value) ? 'a list' : 'an object';
  throw new RecordFault(`${name} is ${is}, but a single value is expected`, 'write it as a text or a number');
};

type Digits = { readonly digits: string; readonly lost: number; readonly isExact: boolean };

/** Digits of an id that a program wrote as `71.0`, `7.1e15`, `="71"` or `'71`. `null` when it is not a whole number. */
const digitsOf = (text: string): Digits | null => {
  const [, whole, decimals = '', exponent = '0'] =
    /^(?:="?|')?(\d+)(?:[.,](\d+))?(?:[eE]\+?(\d{1,2}))?"?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const written = whole.length + decimals.length;
  const length = whole.length + Number(exponent);
  const digits = `${whole}${decimals}`.replace(/0+$/, '').padEnd(length, '0');
  if (digits.length > length) return null;
  const ofSpreadsheet = /^0+$/.test(digits.slice(SPREADSHEET_DIGITS)) ? length - SPREADSHEET_DIGITS : 0;
  // Doubles keep whole numbers up to 2^53. With an exponent, all digits must be written.
  const isExact = written === length && decimals === '' ? true : written >= length && isSafe(digits);
  return { digits, lost: Math.max(length - written, ofSpreadsheet), isExact };
};

/** Number of digits of an id. 0 for a text that is not a whole number. */
export const digitCount = (text: string | null): number =>
  text === null ? 0 : (digitsOf(text)?.digits.length ?? 0);

const isSafe = (digits: string): boolean => Number.isSafeInteger(Number(digits));
const isId = (digits: string): boolean => LibraryId.safeParse(digits).success;

export const isOfDouble = (id: string): boolean =>
  id === String(Number(id)) || BigInt(Number(id)) === BigInt(id);

const isRoundedFrom = (id: string, { digits, lost }: Digits): boolean => {
  const distance = BigInt(id) - BigInt(digits);
  return Number(digits) === Number(id) || (distance < 0n ? -distance : distance) < 10n ** BigInt(lost);
};

const onlyOf = (ids: Iterable<string>, holds: (id: string) => boolean = () => true): string | null => {
  const found = [...ids].filter(holds);
  return found.length === 1 ? (found[0] ?? null) : null;
};

export type CheckedIds = { readonly [Field in 'ad_id' | 'page_id']?: 'confirmed' | 'rounded' };
type PageId = Pick<ObservedAd, 'page_id'> & { readonly checked: CheckedIds };

/** Else the only id that the addresses name. `null` when they name none. */
const checkedId = (
  field: keyof CheckedIds,
  text: string | null,
  own: ReadonlySet<string>,
  near: ReadonlySet<string>,
  notes: string[],
): { readonly id: string | null; readonly checked: CheckedIds } => {
  const given = text === null ? null : digitsOf(text);
  if (given?.isExact === true && (own.has(given.digits) || near.has(given.digits)))
    return { id: given.digits, checked: { [field]: 'confirmed' } };
  const whole = given && onlyOf([...own, ...near], (id) => isRoundedFrom(id, given));
  const id = whole ?? onlyOf(own);
  if (id === null) return { id, checked: {} };
  notes.push(`${field} taken from the address of the ${field === 'ad_id' ? 'ad' : 'page'}`);
  return { id, checked: { [field]: whole === null ? 'confirmed' : 'rounded' } };
};

/** Addresses (`parts`) correct rounded ids. Throws `RecordFault` for an ad id that is missing, invalid or rounded. */
export const idsOf = (
  given: { readonly ad: unknown; readonly page: unknown },
  parts: readonly { readonly [name: string]: unknown }[],
  notes: string[],
): PageId & Pick<ObservedAd, 'ad_id'> => {
  const named = namedIds(parts);
  addIdsOfAddress(named, 'ad', idText(given.ad) ?? '');
  const ad = checkedId('ad_id', idText(given.ad), named.ads, named.nearAds, notes);
  const ad_id = ad.id ?? idOf('the ad id', given.ad);
  if (ad_id === null) throw new RecordFault('the ad id is missing', 'add the id, or remove the record');
  const { page_id, checked } = pageIdOf(given.page, named, notes);
  return { ad_id, page_id, checked: { ...ad.checked, ...checked } };
};

export const pageIdOf = (given: unknown, { pages, near }: NamedIds, notes: string[]): PageId => {
  const text = idText(scalarOf('page_id', given));
  if (text === null || text === '0') return { page_id: null, checked: {} };
  addIdsOfAddress({ ...noIds(), pages }, 'page', text);
  const { id, checked } = checkedId('page_id', text, pages, near, notes);
  const digits = digitsOf(text);
  if (id === null && (digits === null || (digits.isExact && !isId(digits.digits)))) {
    notes.push('page_id is not an id');
    return { page_id: null, checked };
  }
  return { page_id: id ?? idOf('the page id', text), checked };
};

/** `null` when blank or 0. Throws `RecordFault` for a rounded number or a text that is not an id. */
export const idOf = (name: string, value: unknown): string | null => {
  const text = idText(value);
  if (text === null || text === '0') return null;
  const found = digitsOf(text);
  if (found !== null && !found.isExact)
    throw new RecordFault(`${name} ${text} was damaged by a spreadsheet`, ADVICE);
  if (found !== null && isId(found.digits)) return found.digits;
  throw new RecordFault(
    `${name} ${shown(text)} is not an id of 5 to 20 digits`,
    'write the id as the library shows it',
  );
};

export const roundedId = (name: string, id: string): RecordFault =>
  new RecordFault(
    id.endsWith('0')
      ? `${name} ${id} was damaged by a spreadsheet, as all long ids of this file end in 0`
      : `${name} ${id} was rounded by a program that keeps ids as numbers, as all long ids of this file were`,
    ADVICE,
  );

const SHOWN_CHARACTERS = 40;
export const shown = (text: string, max = SHOWN_CHARACTERS): string =>
  JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
