import { ObservedDomain, Timestamp } from '#contracts/values/primitives.ts';
import { RecordFault, type ScanHints } from './record.ts';

/** Key of the scan that a record belongs to. */
export type ScanKey = {
  /** Equal for records of the same scan within a file. */
  readonly id: string;
  readonly brandDomain: string;
  readonly brandName: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  readonly scannedAt: string;
  /** Sorted country codes or `ALL`. Empty when the record has no country; the first pass then assigns one. */
  readonly countries: readonly string[];
};

/** Scan fields from the options and the file name. Brand and countries override those of a record. */
export type ScanDefaults = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly countries: readonly string[] | null;
  readonly times: ScanTimes;
};

/** Sources of a scan time apart from the record itself. Timestamps are ISO 8601 in UTC. */
export type ScanTimes = {
  /** Time of --scanned-at. */
  readonly option: string | null;
  /** Time in the name of the file. */
  readonly fileName: string | null;
  /** Offset from UTC, such as +05:30, for times without a zone. `null` when such times are refused. */
  readonly utcOffset: string | null;
};

/**
 * Returns the domain that identifies a brand: lower case, in ASCII, without scheme, `www.`, port and path. `null` when
 * the text is not a domain.
 */
export const brandDomainOf = (text: string): string | null => {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/:?#].*$/, '')
    .replace(/^www\./, '');
  return ObservedDomain.safeParse(host).data ?? null;
};

const ZONED = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/;
const ZONELESS = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
/** Unix time in seconds or milliseconds. */
const UNIX_TIME = /^\d{10}(\d{3})?$/;

/**
 * Returns a date and time with zone, or a Unix time, as ISO 8601 in UTC. A text without zone is read with `utcOffset`.
 * `null` when zone and offset are both missing, or when the text is not a timestamp.
 */
export const timestampOf = (text: string, utcOffset: string | null = null): string | null => {
  const trimmed = text.trim();
  const time = UNIX_TIME.test(trimmed)
    ? new Date(Number(trimmed.padEnd(13, '0')))
    : new Date(zoned(trimmed, utcOffset)?.replace(' ', 'T') ?? Number.NaN);
  if (Number.isNaN(time.getTime())) return null;
  const timestamp = time.toISOString();
  return Timestamp.safeParse(timestamp).success ? timestamp : null;
};

const zoned = (text: string, utcOffset: string | null): string | null => {
  if (ZONED.test(text)) return text;
  return utcOffset !== null && ZONELESS.test(text) ? `${text}${utcOffset}` : null;
};

export const NO_BRAND = {
  what: 'belongs to a scan without a brand',
  advice: 'add --brand DOMAIN',
} as const;
export const NO_TIME = {
  what: 'belongs to a scan without a time',
  advice:
    'add --scanned-at TIME, such as 2026-01-31T08:00:00Z; or give each record a column scanned_at; ' +
    'or write the time into the file name, such as shop-2026-01-31T0800Z.json',
} as const;

/** Names of the column or JSON member with the scan time of a record, in order of precedence. */
const SCAN_TIME_NAMES = ['scraped_at', 'scanned_at', 'collected_at'] as const;

/** Returns the scan time that a record has itself. `null` when it has none. */
export const ownScanTime = (fields: { readonly [name: string]: unknown }): string | null => {
  for (const name of SCAN_TIME_NAMES) {
    const value = fields[name];
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
    if (text !== '') return text;
  }
  return null;
};

/**
 * Returns the scan time of a record: --scanned-at, else the record's own time, else the time in the file name. Throws
 * `RecordFault` when there is none, or the record's own is not a timestamp.
 */
export const scanTimeOf = ({ option, fileName, utcOffset }: ScanTimes, own: string | null): string => {
  if (option !== null) return option;
  if (own === null && fileName === null) throw new RecordFault(NO_TIME.what, NO_TIME.advice);
  const time = own === null ? fileName : timestampOf(own, utcOffset);
  if (time !== null) return time;
  throw new RecordFault(
    `${JSON.stringify(own)} is not a timestamp with a time zone`,
    'write it such as 2026-01-31T08:00:00Z, or add --utc-offset such as +00:00 if it has no zone, or add --scanned-at TIME',
  );
};

/**
 * Returns the scan key of a record, from the file's defaults and the record's hints. Throws `RecordFault` when neither
 * has a valid brand domain, or neither has a valid time.
 */
export const scanKeyOf = (defaults: ScanDefaults, hints: ScanHints): ScanKey => {
  const brandText = defaults.brandDomain ?? hints.brandDomain;
  const brandDomain = brandText === null ? null : brandDomainOf(brandText);
  if (brandText === null) throw new RecordFault(NO_BRAND.what, NO_BRAND.advice);
  if (brandDomain === null)
    throw new RecordFault(`${JSON.stringify(brandText)} is not a domain`, NO_BRAND.advice);
  const scannedAt = scanTimeOf(defaults.times, hints.scannedAt);
  const countries = [...new Set(defaults.countries ?? hints.countries ?? [])].toSorted();
  const brandName = defaults.brandDomain === null ? hints.brandName : defaults.brandName;
  return withCountries({ brandDomain, brandName, scannedAt }, countries);
};

export const withCountries = (
  scan: Pick<ScanKey, 'brandDomain' | 'brandName' | 'scannedAt'>,
  countries: readonly string[],
): ScanKey => {
  const { brandDomain, brandName, scannedAt } = scan;
  const id = `${brandDomain}|${scannedAt}|${countries.join(',')}`;
  return { id, brandDomain, brandName, scannedAt, countries };
};
