import { z } from 'zod';

/** The description of one schema, for another of the same meaning. */
export const described = ({ description = '' }: z.ZodType) => ({ description });

/** Digits, because ids exceed 2^53. */
export const LibraryId = z.string().regex(/^[1-9][0-9]{4,19}$/, 'an id of 5 to 20 digits');

export const Uuid = z.guid('must be a uuid');

export const CalendarDate = z.iso.date();

/** Other years are a program's zero or maximum value, such as `0001-01-01`. */
export const ObservedDate = CalendarDate.refine(
  (date) => date >= '2000' && date < '2200',
  'a date of the years 2000 to 2199',
);

export const Timestamp = z.iso.datetime();

export const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const Slug = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'must be a slug such as `harbor-and-pine`');

export const Country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be a country of two capital letters, such as `US`');

const DOMAIN = /^[a-z0-9.-]+\.[a-z]{2,}$/;
const DOMAIN_MAX_CHARACTERS = 253;
/** At least two labels, the last of at least two letters. */
export const Domain = z.string().max(DOMAIN_MAX_CHARACTERS).regex(DOMAIN);

/** UTS #46: `bücher.example` becomes `xn--bcher-kva.example`. */
export const asciiDomain = (text: string): string =>
  /^[^\s\p{Cc}/\\:?#@%[\]]+$/u.test(text) && /[^ -~]/.test(text)
    ? (URL.parse(`https://${text}`)?.hostname ?? text)
    : text;

/** Empty labels, or hyphens at their ends, would produce another domain's slug. Letters beyond ASCII become ASCII. */
export const ObservedDomain = z
  .string()
  .overwrite(asciiDomain)
  .max(DOMAIN_MAX_CHARACTERS)
  .regex(DOMAIN)
  .refine(
    (domain) => domain.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)),
    'a domain such as shop.example',
  );

/** The workspace of the calling key. */
export const WorkspaceId = z
  .string()
  .meta({ description: "The calling key's workspace, `{ws}` in the paths of this service." });

export const AdFormat = z.enum(['video', 'image', 'carousel', 'dco', 'other']).meta({
  description:
    'Creative format. `dco` (dynamic creative optimisation): the network puts the parts together for each viewer; `other`: none of these, or not observed.',
});
export type AdFormat = z.infer<typeof AdFormat>;

export const Cadence = z
  .enum(['daily', 'weekly'])
  .meta({ id: 'Cadence', description: 'How often the brand is scanned while the workspace tracks it.' });
export type Cadence = z.infer<typeof Cadence>;
