import { derivedId as derive } from '#contracts/values/derived-id.ts';

/** Ids of corpus things, each derived from its natural key. */

/** `domain` in lower case, without `www.`. */
export const brandIdOf = (domain: string): string => derive('brand', domain);

/** `path` holds names from the top level down. */
export const categoryIdOf = (path: readonly string[]): string =>
  derive('category', path.map((name) => name.trim().toLowerCase()).join(' > '));

/** One id for one scan, however often and by whomever it is handed in. */
export const scanIdOf = (brandDomain: string, scannedAt: string, fingerprint: string): string =>
  derive('scan', `${brandDomain}|${scannedAt}|${fingerprint}`);

/** Any other id that has to come out the same when its cause comes again. */
export const derivedId = (kind: string, key: string): string => derive(kind, key);

/**
 * A brand's slug: its domain with `.` written `-` and `-` written `--`, which no two domains share
 * (a label neither begins nor ends with a hyphen).
 */
export const brandSlugOf = (domain: string): string => domain.replaceAll('-', '--').replaceAll('.', '-');

/** A name as a slug: `Home & Garden` becomes `home-garden`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'unnamed';
