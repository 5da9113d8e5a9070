import { ObservedDomain, Timestamp } from '#contracts/values/primitives.ts';
import { idText } from './fields/ad-ids.ts';
import { RecordFault, type ScanHints } from './record.ts';

export type ScanKey = {
  readonly id: string;
  readonly brandDomain: string;
  readonly brandName: string | null;
  readonly scannedAt: string;
  /** Sorted, or `ALL`. Empty when the record has none; the first pass then assigns one. */
  readonly countries: readonly string[];
};

export type ScanDefaults = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly countries: readonly string[] | null;
  readonly times: ScanTimes;
};

export type ScanTimes = {
  readonly option: string | null;
  readonly fileName: string | null;
  /** For times without a zone. `null` when such times are refused. */
  readonly utcOffset: string | null;
};

/** Lower case, in ASCII, without scheme, `www.`, port and path. `null` when the text is not a domain. */
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
const UNIX_TIME = /^\d{10}(\d{3})?$/;

/** ISO 8601 in UTC. `null` when the time is invalid, or neither it nor `utcOffset` gives a zone. */
export const timestampOf = (text: string, utcOffset: string | null = null): string | null => {
  const given = text.trim();
  const isZoned = ZONED.test(given) || (utcOffset !== null && ZONELESS.test(given));
  const iso = isZoned ? given.replace(' ', 'T') + (ZONED.test(given) ? '' : utcOffset) : '';
  const time = new Date(UNIX_TIME.test(given) ? Number(given.padEnd(13, '0')) : iso);
  if (Number.isNaN(time.getTime())) return null;
  return Timestamp.safeParse(time.toISOString()).data ?? null;
};

export const NO_BRAND = { what: 'belongs to a scan without a brand', advice: 'add --brand DOMAIN' } as const;
export const NO_TIME = {
  what: 'belongs to a scan without a time',
  advice:
    'add --scanned-at TIME, such as 2026-01-31T08:00:00Z; or give each record a column scanned_at; ' +
    'or write the time into the file name, such as shop-2026-01-31T0800Z.json',
} as const;

/** In order of precedence. */
const SCAN_TIME_NAMES = ['scraped_at', 'scanned_at', 'collected_at'] as const;

export const ownScanTime = (fields: { readonly [name: string]: unknown }): string | null =>
  SCAN_TIME_NAMES.map((name) => idText(fields[name])).find((time) => time !== null) ?? null;

/** Order: --scanned-at, the record, the file name. Throws `RecordFault` without a valid one. */
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
