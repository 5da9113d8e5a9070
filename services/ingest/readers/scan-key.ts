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

/** Scan fields from the options and the file name. They override the fields of a record. */
export type ScanDefaults = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly scannedAt: string | null;
  readonly countries: readonly string[] | null;
};

/**
 * Returns the domain that identifies a brand: lower case, without scheme, `www.`, port and path. `null` when the text is
 * not a domain.
 */
export const brandDomainOf = (text: string): string | null => {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/:?#].*$/, '')
    .replace(/^www\./, '');
  return ObservedDomain.safeParse(host).success ? host : null;
};

/** Returns a timestamp with time zone as ISO 8601 in UTC. `null` when the text has no zone or is not a timestamp. */
export const timestampOf = (text: string): string | null => {
  const trimmed = text.trim();
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/.test(trimmed)) return null;
  const time = new Date(trimmed.replace(' ', 'T'));
  if (Number.isNaN(time.getTime())) return null;
  const timestamp = time.toISOString();
  return Timestamp.safeParse(timestamp).success ? timestamp : null;
};

export const NO_BRAND = {
  what: 'belongs to a scan without a brand',
  advice: 'add --brand DOMAIN',
} as const;
export const NO_TIME = {
  what: 'belongs to a scan without a time',
  advice: 'add --scanned-at TIME, such as 2026-01-31T08:00:00Z',
} as const;

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
  const timeText = defaults.scannedAt ?? hints.scannedAt;
  const scannedAt = timeText === null ? null : timestampOf(timeText);
  if (timeText === null) throw new RecordFault(NO_TIME.what, NO_TIME.advice);
  if (scannedAt === null) {
    throw new RecordFault(`${JSON.stringify(timeText)} is not a timestamp with a time zone`, NO_TIME.advice);
  }
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
