import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { DateForms } from '../fields/date-form.ts';
import { KEY_MAX_CHARACTERS } from '../parsing/json-records.ts';

const Candidates = z.array(z.string().min(1)).min(1).max(20);
const Pattern = z.string().max(500).refine(isPattern, 'not a regular expression');

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== '';
  } catch {
    return false;
  }
}

const Offset = z.string().regex(/^[+-]\d{2}:\d{2}$/);

const pageNoise = {
  drop_lines: z.array(Pattern).max(50).optional(),
  drop_endings: z.array(Pattern).max(50).optional(),
  button_in_description: z.boolean().optional(),
  description_repeats_copy: z.boolean().optional(),
  link_block: z
    .strictObject({
      after: z.array(Pattern).min(1).max(50),
      address: Pattern,
      fields: z.array(z.enum(['title', 'link_description'])).max(2),
    })
    .optional(),
};

const VersionColumns = z.strictObject({
  key: Candidates.optional(),
  body: Candidates.optional(),
  title: Candidates.optional(),
  link_description: Candidates.optional(),
  cta_text: Candidates.optional(),
  link_url: Candidates.optional(),
});

const AdFields = z.strictObject({
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
  countries: Candidates.optional(),
  brand_domain: Candidates.optional(),
  brand_name: Candidates.optional(),
  scanned_at: Candidates.optional(),
});

const settings = {
  name: z.string().min(1).max(80),
  description: z.string().max(4_000).optional(),
  /** `is_active` is ignored when the row has a stop date. */
  constants: z
    .strictObject({
      is_active: z.boolean().optional(),
      page_id: z.string().optional(),
      page_name: z.string().optional(),
      countries: z.array(z.string()).min(1).optional(),
    })
    .optional(),
  dates: z
    .strictObject({
      started_on: DateForms.optional(),
      stopped_on: DateForms.optional(),
      scanned_at: DateForms.optional(),
    })
    .optional(),
  complete: z.boolean(),
  scans_by_row: z.boolean().optional(),
  /** Without folder, `.gz`, `.csv` and `.refused`. Groups: `brand`, `date` (YYYY-MM-DD), `time` (HHMM), `offset`. */
  file_name: z.strictObject({ pattern: Pattern, offset: Offset.default('+00:00') }).optional(),
  /** Relative to the mapping file. --brands overrides it. */
  brands_file: z.string().optional(),
};

/** Maps columns of other tools' CSV. Columns that are not mapped are not read, which keeps spend and reach out. */
export const CsvMapping = z
  .strictObject({
    ...settings,
    columns: AdFields,
    version: VersionColumns.optional(),
    variants: z
      .array(
        z.strictObject({
          collector: z.string().min(1).max(100),
          has_columns: z.array(z.string().min(1)),
          ...pageNoise,
        }),
      )
      .min(1),
  })
  .transform((mapping) => ({ syntax: 'csv' as const, ...mapping }));
export type CsvMapping = z.infer<typeof CsvMapping>;

const RecordPath = z
  .string()
  .max(500)
  .transform((path) => path.split('.').filter((name) => name !== ''))
  .refine((names) => names.every((name) => name.length < KEY_MAX_CHARACTERS), 'a member name is too long');

/** Maps paths such as `creative.links[0].url` of other tools' JSON. Other members are not read. */
const JsonMappingFile = z.strictObject({
  ...settings,
  records: RecordPath.default([]),
  fields: AdFields,
  collector: z.string().min(1).max(100),
  ...pageNoise,
});
const JsonMapping = JsonMappingFile.transform((file) => {
  const { fields: columns, collector, drop_lines, drop_endings, link_block, ...rest } = file;
  const { button_in_description, description_repeats_copy, ...common } = rest;
  const noise = { drop_lines, drop_endings, link_block, button_in_description, description_repeats_copy };
  const variant = { collector, has_columns: [], ...noise };
  return { syntax: 'json' as const, ...common, columns, version: undefined, variants: [variant] as const };
});
export type JsonMapping = z.infer<typeof JsonMapping>;

export type Mapping = CsvMapping | JsonMapping;

const Brands = z.object({
  brands: z.array(
    z.object({ group: z.string().min(1), name: z.string().trim().min(1).max(200), domain: ObservedDomain }),
  ),
});
export type Brand = { readonly domain: string; readonly name: string };

export type LoadedMapping = { readonly mapping: Mapping; readonly brands: ReadonlyMap<string, Brand> };

export class MappingFault extends Error {}

const loadJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new MappingFault(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
};

const load = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
  const result = schema.safeParse(await loadJson(path));
  if (!result.success) throw new MappingFault(`${path} is not valid:\n${z.prettifyError(result.error)}`);
  return result.data;
};

const hasFields = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'fields' in value;

export const loadMapping = async (path: string, brandsPath?: string): Promise<LoadedMapping> => {
  const isJson = hasFields(await loadJson(path));
  const mapping: Mapping = await load<Mapping>(path, isJson ? JsonMapping : CsvMapping);
  const brandsFile =
    brandsPath ??
    (mapping.brands_file === undefined ? undefined : resolve(dirname(path), mapping.brands_file));
  const brands = brandsFile === undefined ? [] : (await load(brandsFile, Brands)).brands;
  return { mapping, brands: new Map(brands.map(({ group, name, domain }) => [group, { name, domain }])) };
};

export type NamedScan = {
  readonly group: string | null;
  readonly brand: Brand | null;
  readonly scannedAt: string | null;
};

export const readFileName = ({ mapping, brands }: LoadedMapping, stem: string): NamedScan => {
  const rule = mapping.file_name;
  const match = rule === undefined ? null : new RegExp(rule.pattern, 'u').exec(stem);
  const groups = match?.groups ?? {};
  const group = groups['brand'] ?? null;
  const time = groups['time']?.replace(/^(\d{2})(\d{2})$/, '$1:$2');
  const offset = groups['offset'] ?? rule?.offset;
  const scannedAt = new Date(`${groups['date']}T${time}:00${offset}`);
  return {
    group,
    brand: group === null ? null : (brands.get(group) ?? null),
    scannedAt: Number.isNaN(scannedAt.getTime()) ? null : scannedAt.toISOString(),
  };
};
