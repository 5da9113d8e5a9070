import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isObject } from '#domain/shapes/json-object.ts';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { DateForms } from '../fields/date-form.ts';
import { pageNoise, Pattern } from '../mapped/page-noise.ts';
import { KEY_MAX_CHARACTERS } from '../parsing/json-records.ts';

const Candidates = z.array(z.string().min(1)).min(1).max(20);
const Collector = z.string().min(1).max(100);
const Offset = z.string().regex(/^[+-]\d{2}:\d{2}$/);

const optional = <const Names extends readonly string[]>(...names: Names) =>
  Object.fromEntries(names.map((name) => [name, Candidates.optional()])) as {
    readonly [Name in Names[number]]: z.ZodOptional<typeof Candidates>;
  };
const versionTexts = optional('body', 'title', 'link_description', 'cta_text', 'link_url');
const content = {
  ...versionTexts,
  ...optional('caption', 'cta_type', 'format', 'image_url', 'video_url', 'poster_url'),
  ...optional('started_on', 'stopped_on'),
};
/** A record without any of them has another shape than the mapping. */
export const CONTENT_FIELDS = Object.keys(content) as readonly (keyof typeof content)[];

const VersionColumns = z.strictObject({ key: Candidates.optional(), ...versionTexts });
const AdFields = z.strictObject({
  ad_id: Candidates,
  ...optional('page_id', 'page_name', 'is_active', 'platforms', 'languages', 'countries'),
  ...optional('brand_domain', 'brand_name', 'scanned_at'),
  ...content,
});

const settings = {
  name: z.string().min(1).max(80),
  description: z.string().max(4_000).optional(),
  /** `is_active` is ignored when the row has a stop date. */
  constants: z
    .strictObject({
      is_active: z.boolean(),
      page_id: z.string(),
      page_name: z.string(),
      countries: z.array(z.string()).min(1),
    })
    .partial()
    .optional(),
  dates: z
    .strictObject({ started_on: DateForms, stopped_on: DateForms, scanned_at: DateForms })
    .partial()
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
      .array(z.strictObject({ collector: Collector, has_columns: z.array(z.string().min(1)), ...pageNoise }))
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
const JsonMapping = z
  .strictObject({
    ...settings,
    records: RecordPath.default([]),
    fields: AdFields,
    collector: Collector,
    ...pageNoise,
  })
  .transform(({ fields: columns, ...file }) => ({
    syntax: 'json' as const,
    ...file,
    columns,
    version: undefined,
    variants: [{ ...file, has_columns: [] }] as const,
  }));
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

export const loadMapping = async (path: string, brandsPath?: string): Promise<LoadedMapping> => {
  const file = await loadJson(path);
  const isJson = isObject(file) && 'fields' in file;
  const mapping: Mapping = await load<Mapping>(path, isJson ? JsonMapping : CsvMapping);
  const ownBrands = mapping.brands_file && resolve(dirname(path), mapping.brands_file);
  const brandsFile = brandsPath ?? ownBrands;
  const brands = brandsFile === undefined ? [] : (await load(brandsFile, Brands)).brands;
  return { mapping, brands: new Map(brands.map(({ group, name, domain }) => [group, { name, domain }])) };
};

export const readFileName = ({ mapping, brands }: LoadedMapping, stem: string) => {
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
