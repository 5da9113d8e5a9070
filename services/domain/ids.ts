import { derivedId as derive } from '#contracts/values/derived-id.ts';

/** Ids, and slugs of names. Each id is derived from a natural key, so the same key always has the same id. */

/** Expects `domain` in lower case, without `www.`. */
export const brandIdOf = (domain: string): string => derive('brand', domain);

/** Expects `path` to hold category names from the top level down. */
export const categoryIdOf = (path: readonly string[]): string =>
  derive('category', path.map((name) => name.trim().toLowerCase()).join(' > '));

/** Returns the same id whenever the same scan is submitted again, by any submitter. */
export const scanIdOf = (brandDomain: string, scannedAt: string, fingerprint: string): string =>
  derive('scan', `${brandDomain}|${scannedAt}|${fingerprint}`);

/** Returns any other id that must be the same when its cause is repeated. */
export const derivedId = (kind: string, key: string): string => derive(kind, key);

/** Returns a name as a slug: `Home & Garden` becomes `home-garden`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'unnamed';
