import { z } from 'zod';

/**
 * Basic types of all contracts. The formats are those of the public specification, part "Resources and their
 * fields, conventions".
 */

/** Ad and page ids of the library: strings of digits, because they exceed 2^53. */
export const LibraryId = z.string().regex(/^[1-9][0-9]{4,19}$/, 'an id of 5 to 20 digits');

/** UUID of any version and variant, as `format: uuid` in the published contract. */
export const Uuid = z.guid('Invalid UUID');

/** A calendar date, `YYYY-MM-DD`. */
export const CalendarDate = z.iso.date();

/**
 * A date from an observation. Dates outside these years are rejected: they are a program's zero or maximum value,
 * such as `0001-01-01`.
 */
export const ObservedDate = CalendarDate.refine(
  (date) => date >= '2000' && date < '2200',
  'a date of the years 2000 to 2199',
);

/** ISO 8601 in UTC, ending in `Z`. */
export const Timestamp = z.iso.datetime();

/** An integer from 0 to 2^53 − 1. */
export const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const Slug = z.string().regex(/^[a-z0-9][a-z0-9-]*$/);

/** ISO 3166-1 alpha-2. */
export const Country = z.string().regex(/^[A-Z]{2}$/);

const DOMAIN = /^[a-z0-9.-]+\.[a-z]{2,}$/;
const DOMAIN_MAX_CHARACTERS = 253;
/** Lower-case host name with at least two labels, the last of at least two letters. */
export const Domain = z.string().max(DOMAIN_MAX_CHARACTERS).regex(DOMAIN);

/** Returns a domain with letters beyond ASCII in its ASCII form (UTS #46): `bücher.example` as `xn--bcher-kva.example`. */
export const asciiDomain = (text: string): string =>
  /^[^\s\p{Cc}/\\:?#@%[\]]+$/u.test(text) && /[^ -~]/.test(text)
    ? (URL.parse(`https://${text}`)?.hostname ?? text)
    : text;

/**
 * A valid domain of a brand. Empty labels, or labels that start or end with a hyphen, would produce another
 * domain's slug. A domain with letters beyond ASCII becomes its ASCII form.
 */
export const ObservedDomain = z
  .string()
  .overwrite(asciiDomain)
  .max(DOMAIN_MAX_CHARACTERS)
  .regex(DOMAIN)
  .refine(
    (domain) => domain.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)),
    'a domain such as shop.example',
  );

export const AdFormat = z.enum(['video', 'image', 'carousel', 'dco', 'other']);
export type AdFormat = z.infer<typeof AdFormat>;

export const Cadence = z.enum(['daily', 'weekly']);
export type Cadence = z.infer<typeof Cadence>;
