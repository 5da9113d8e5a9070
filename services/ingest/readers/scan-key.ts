import { ObservedDomain, Timestamp } from '#contracts/values/primitives.ts';
import { RecordFault, type ScanHints } from './record.ts';

/** Which scan a record belongs to. */
export type ScanKey = {
  /** Equal for equal scans of one file. */
  readonly id: string;
  readonly brandDomain: string;
  readonly brandName: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  readonly scannedAt: string;
  /** Sorted; none where the record does not say, until the rest of the file has said. */
  readonly countries: readonly string[];
};

/** What is known of a file's scans beside their records; an option says more than a record. */
export type ScanDefaults = {
  readonly brandDomain: string | null;
  readonly brandName: string | null;
  readonly scannedAt: string | null;
  readonly countries: readonly string[] | null;
};

/** A domain as brands are known by: lower case, no scheme, no `www.`, no path. `null` when it is none. */
export const brandDomainOf = (text: string): string | null => {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/:?#].*$/, '')
    .replace(/^www\./, '');
  return ObservedDomain.safeParse(host).success ? host : null;
};

/** A moment with its time zone, in UTC. `null` when it is none. */
export const momentOf = (text: string): string | null => {
  const written = text.trim();
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/.test(written)) return null;
  const at = new Date(written.replace(' ', 'T'));
  if (Number.isNaN(at.getTime())) return null;
  const moment = at.toISOString();
  return Timestamp.safeParse(moment).success ? moment : null;
};

export const NO_BRAND = { what: 'belongs to a scan with no brand', advice: 'say --brand DOMAIN' } as const;
export const NO_TIME = {
  what: 'belongs to a scan with no time',
  advice: 'say --scanned-at TIME, such as 2026-01-31T08:00:00Z',
} as const;

/** The scan of a record by what the file and the record say. Refuses a record that neither gives a brand or time. */
export const scanKeyOf = (defaults: ScanDefaults, hints: ScanHints): ScanKey => {
  const saidBrand = defaults.brandDomain ?? hints.brandDomain;
  const brandDomain = saidBrand === null ? null : brandDomainOf(saidBrand);
  if (saidBrand === null) throw new RecordFault(NO_BRAND.what, NO_BRAND.advice);
  if (brandDomain === null)
    throw new RecordFault(`${JSON.stringify(saidBrand)} is not a domain`, NO_BRAND.advice);
  const saidTime = defaults.scannedAt ?? hints.scannedAt;
  const scannedAt = saidTime === null ? null : momentOf(saidTime);
  if (saidTime === null) throw new RecordFault(NO_TIME.what, NO_TIME.advice);
  if (scannedAt === null) {
    throw new RecordFault(`${JSON.stringify(saidTime)} is not a moment with a time zone`, NO_TIME.advice);
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
