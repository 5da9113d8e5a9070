import { basename } from 'node:path';
import { csvRows } from '../readers/parsing/csv-rows.ts';
import { detectFormat } from '../readers/detect-format.ts';
import type { FileRefusal } from './file-item.ts';
import type { SidePlan } from './read-side-file.ts';
import { type FormatName, READERS, SIDE_READERS, type SideFormat } from '../readers/formats.ts';
import { readMappedCsv, variantOf } from '../readers/formats/csv-ads.ts';
import { type LoadedMapping, readFileName } from '../readers/formats/column-mapping.ts';
import { readMappedJson } from '../readers/mapped/mapped-json.ts';
import type { Reader } from '../readers/record.ts';
import type { SideNeeds, SideReader } from '../readers/side-record.ts';
import { openSource } from '../readers/parsing/open-source.ts';
import { NO_BRAND, NO_TIME, type ScanDefaults, type ScanTimes, timestampOf } from '../readers/scan-key.ts';

const NAMED_TIME =
  /(?<!\d)(?<year>20\d{2})-?(?<month>\d{2})-?(?<day>\d{2})[T_ -]?(?<hour>\d{2})[-:.]?(?<minute>\d{2})(?:[-:.]?(?<second>\d{2}))?(?<zone>Z|[+-]\d{2}:?\d{2})?(?!\d)/;

/** UTC. `null` without date and time, or when neither the name nor `utcOffset` gives a zone. */
export const timeInFileName = (path: string, utcOffset: string | null): string | null => {
  const groups = NAMED_TIME.exec(basename(path))?.groups;
  if (groups === undefined) return null;
  const { year, month, day, hour, minute, second = '00', zone = '' } = groups;
  const colons = zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  return timestampOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${colons}`, utcOffset);
};

export type ReadOptions = {
  readonly format?: FormatName | undefined;
  readonly brand?: string | undefined;
  readonly scannedAt?: string | undefined;
  readonly utcOffset?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  /** The caller declares that the file has all ads of its pages. */
  readonly complete?: boolean | undefined;
  readonly scansByRow?: boolean | undefined;
  readonly mapping?: LoadedMapping | undefined;
};

export type FilePlan = {
  readonly read: Reader;
  readonly collector: string;
  readonly defaults: ScanDefaults;
  /** Option or mapping that declares the file complete. */
  readonly declaredBy: string | null;
  readonly scansByRow: boolean;
  readonly header: string | null;
};
export type Plan = { readonly format: FormatName } & (
  | ({ readonly kind: 'scans' } & FilePlan)
  | ({ readonly kind: 'side' } & SidePlan)
  | { readonly kind: 'observations' }
);

/** Name without folder, `.gz`, extension and the `.refused` suffix of a rejects file. */
export const stemOf = (path: string): string =>
  basename(path)
    .replace(/\.gz$/i, '')
    .replace(/\.[A-Za-z0-9]{1,6}$/, '')
    .replace(/\.refused(-\d+)?$/, '');

export const isRefusedFile = (path: string): boolean => /\.refused(-\d+)?\.[^/]*$/.test(basename(path));

/** Reads no record beyond format detection. */
export const planFile = async (path: string, options: ReadOptions): Promise<Plan | FileRefusal> => {
  const detected = await detectFormat(path, mappedFormatOf(options), options.format);
  if ('unknown' in detected) return { what: detected.unknown, advice: detected.advice };
  const { format } = detected;
  if (format === 'observations') return { kind: 'observations', format };
  if (isSideFormat(format)) {
    const plan = sidePlan(path, format, options);
    return 'what' in plan ? plan : { kind: 'side', format, ...plan };
  }
  const plan =
    format === 'mapped-csv' || format === 'mapped-json'
      ? await mappedPlan(path, format, options)
      : await plainPlan(path, format, options);
  if ('what' in plan) return plan;
  const { brandDomain, times } = plan.defaults;
  const isMapped = format === 'mapped-csv' || format === 'mapped-json';
  const columns = isMapped ? options.mapping?.mapping.columns : undefined;
  if (brandDomain === null && columns?.brand_domain === undefined) return NO_BRAND;
  const recordsHaveNoTime = isMapped && columns?.scanned_at === undefined;
  if (recordsHaveNoTime && times.option === null && times.fileName === null) return NO_TIME;
  return { kind: 'scans', format, ...plan };
};

const scanTimes = (path: string, options: ReadOptions, inFileName: string | null = null): ScanTimes => {
  const utcOffset = options.utcOffset ?? null;
  return {
    option: options.scannedAt ?? null,
    fileName: inFileName ?? timeInFileName(path, utcOffset),
    utcOffset,
  };
};

const mappedFormatOf = ({ mapping }: ReadOptions): 'mapped-csv' | 'mapped-json' | null =>
  mapping === undefined ? null : `mapped-${mapping.mapping.syntax}`;

const isSideFormat = (format: FormatName): format is SideFormat => format in SIDE_READERS;

const sidePlan = (path: string, format: SideFormat, options: ReadOptions): SidePlan | FileRefusal => {
  const { read, needs }: { read: SideReader; needs: SideNeeds } = SIDE_READERS[format];
  if (needs.brand && options.brand === undefined) return { what: 'has no brand', advice: NO_BRAND.advice };
  return {
    side: read,
    context: {
      brandDomain: options.brand ?? null,
      times: scanTimes(path, options),
      complete: options.complete === true && !isRefusedFile(path),
    },
  };
};

const plainPlan = async (
  path: string,
  format: keyof typeof READERS,
  options: ReadOptions,
): Promise<FilePlan> => {
  const { read, collector, syntax } = READERS[format];
  return {
    read,
    collector,
    defaults: {
      brandDomain: options.brand ?? null,
      brandName: null,
      countries: options.countries ?? null,
      times: scanTimes(path, options),
    },
    declaredBy: options.complete === true ? '--complete' : null,
    scansByRow: options.scansByRow === true,
    header: syntax === 'csv' ? ((await headerOf(path))?.raw ?? null) : null,
  };
};

const mappedPlan = async (
  path: string,
  format: 'mapped-csv' | 'mapped-json',
  options: ReadOptions,
): Promise<FilePlan | FileRefusal> => {
  const { mapping: loaded } = options;
  if (loaded === undefined) return { what: 'requires a mapping', advice: 'add --mapping FILE' };
  const { mapping } = loaded;
  if (format !== mappedFormatOf(options))
    return {
      what: `is read as ${format}, but the mapping is for ${mapping.syntax}`,
      advice: 'leave --format out',
    };
  const header = mapping.syntax === 'csv' ? await headerOf(path) : null;
  const variant =
    mapping.syntax === 'json' ? mapping.variants[0] : header && variantOf(mapping, header.columns);
  const named = readFileName(loaded, stemOf(path));
  const brandDomain = options.brand ?? named.brand?.domain ?? null;
  if (brandDomain === null && named.group !== null && mapping.columns.brand_domain === undefined) {
    return {
      what: `belongs to a scan without a brand: the group ${JSON.stringify(named.group)} of its name is not in the brands file`,
      advice: 'add the group to the file of --brands, or add --brand DOMAIN',
    };
  }
  return {
    read: mapping.syntax === 'csv' ? readMappedCsv(mapping) : readMappedJson(mapping),
    // Without a matching variant the reader refuses the header, so this collector is never recorded.
    collector: variant?.collector ?? mapping.name,
    defaults: {
      brandDomain,
      brandName: brandDomain === named.brand?.domain ? named.brand.name : null,
      countries: options.countries ?? null,
      times: scanTimes(path, options, named.scannedAt),
    },
    declaredBy:
      options.complete === true ? '--complete' : mapping.complete ? `the mapping ${mapping.name}` : null,
    scansByRow: options.scansByRow ?? mapping.scans_by_row ?? false,
    header: header?.raw ?? null,
  };
};

const headerOf = async (path: string): Promise<{ columns: readonly string[]; raw: string } | null> => {
  for await (const item of csvRows(await openSource(path))) {
    return item.kind === 'header' ? item : null;
  }
  return null;
};
