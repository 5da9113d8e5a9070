import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ObservedDomain } from '#contracts/values/primitives.ts';

/** Names of columns, of which the first that the file has and that is not blank counts. */
const Candidates = z.array(z.string().min(1)).min(1).max(20);
const Pattern = z.string().max(500).refine(isPattern, 'not a regular expression');

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== '';
  } catch {
    return false;
  }
}

/** A time zone as its distance from UTC. */
const Offset = z.string().regex(/^[+-]\d{2}:\d{2}$/);

const VersionColumns = z.strictObject({
  /** What numbers the versions; several rows of one ad that share it are one version. */
  key: Candidates.optional(),
  body: Candidates.optional(),
  title: Candidates.optional(),
  link_description: Candidates.optional(),
  cta_text: Candidates.optional(),
  link_url: Candidates.optional(),
});

/**
 * How to read a CSV that is none of the known shapes: which columns hold what, how to tell the exporting
 * programs apart, and what the file's name says. Columns it does not name are not read, so that money
 * and reach stay out.
 */
export const Mapping = z.strictObject({
  name: z.string().min(1).max(80),
  description: z.string().max(4_000).optional(),
  columns: z.strictObject({
    ad_id: Candidates,
    page_id: Candidates.optional(),
    page_name: Candidates.optional(),
    is_active: Candidates.optional(),
    started_on: Candidates.optional(),
    stopped_on: Candidates.optional(),
    body: Candidates.optional(),
    title: Candidates.optional(),
    link_description: Candidates.optional(),
    caption: Candidates.optional(),
    cta_type: Candidates.optional(),
    cta_text: Candidates.optional(),
    link_url: Candidates.optional(),
    format: Candidates.optional(),
    platforms: Candidates.optional(),
    languages: Candidates.optional(),
    image_url: Candidates.optional(),
    video_url: Candidates.optional(),
    poster_url: Candidates.optional(),
    /** A country code, several with commas, or `ALL`: what the library was asked for. */
    countries: Candidates.optional(),
    brand_domain: Candidates.optional(),
    brand_name: Candidates.optional(),
    scanned_at: Candidates.optional(),
  }),
  version: VersionColumns.optional(),
  /** Headers of different programs; the first whose columns are all there names the collector. */
  variants: z
    .array(
      z.strictObject({
        collector: z.string().min(1).max(100),
        has_columns: z.array(z.string().min(1)),
        /** Lines of the copy that match are page noise and no copy. */
        drop_lines: z.array(Pattern).max(50).optional(),
        /** Where the button is blank and the description is a button's label, it is the button. */
        button_in_description: z.boolean().optional(),
      }),
    )
    .min(1),
  /** For fields that a row leaves blank. `is_active` does not count where the row has a stop date. */
  constants: z
    .strictObject({
      is_active: z.boolean().optional(),
      page_id: z.string().optional(),
      page_name: z.string().optional(),
      countries: z.array(z.string()).min(1).optional(),
    })
    .optional(),
  /** Whether such a file holds all ads of its pages. */
  complete: z.boolean(),
  /**
   * What the file's name says, without folder, `.gz`, `.csv` and `.refused`: named groups `brand`, `date`
   * (YYYY-MM-DD), `time` (HHMM or HH:MM) and `offset`.
   */
  file_name: z.strictObject({ pattern: Pattern, offset: Offset.default('+00:00') }).optional(),
  /** A file of brands, beside the mapping unless absolute. */
  brands_file: z.string().optional(),
});
export type Mapping = z.infer<typeof Mapping>;

const Brands = z.object({
  brands: z.array(
    z.object({ group: z.string().min(1), name: z.string().trim().min(1).max(200), domain: ObservedDomain }),
  ),
});
export type Brand = { readonly domain: string; readonly name: string };

export type LoadedMapping = { readonly mapping: Mapping; readonly brands: ReadonlyMap<string, Brand> };

/** A mapping file or brands file that cannot be used; `message` says which and why. */
export class MappingFault extends Error {}

const load = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new MappingFault(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new MappingFault(`${path} is not valid:\n${z.prettifyError(result.error)}`);
  return result.data;
};

export const loadMapping = async (path: string, brandsPath?: string): Promise<LoadedMapping> => {
  const mapping = await load(path, Mapping);
  const from =
    brandsPath ??
    (mapping.brands_file === undefined ? undefined : resolve(dirname(path), mapping.brands_file));
  const listed = from === undefined ? [] : (await load(from, Brands)).brands;
  return { mapping, brands: new Map(listed.map(({ group, name, domain }) => [group, { name, domain }])) };
};

/** What a file's name says of its scan. */
export type NamedScan = {
  readonly group: string | null;
  readonly brand: Brand | null;
  readonly scannedAt: string | null;
};

export const readFileName = ({ mapping, brands }: LoadedMapping, stem: string): NamedScan => {
  const rule = mapping.file_name;
  const found = rule === undefined ? null : new RegExp(rule.pattern, 'u').exec(stem);
  const groups = found?.groups ?? {};
  const group = groups['brand'] ?? null;
  const time = groups['time']?.replace(/^(\d{2})(\d{2})$/, '$1:$2');
  const offset = groups['offset'] ?? rule?.offset;
  const at = new Date(`${groups['date']}T${time}:00${offset}`);
  return {
    group,
    brand: group === null ? null : (brands.get(group) ?? null),
    scannedAt: Number.isNaN(at.getTime()) ? null : at.toISOString(),
  };
};
