import { ARCHIVE_ID_COLUMNS } from './formats/ads-archive-csv.ts';
import { csvRows } from './parsing/csv-rows.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { jsonRecords } from './parsing/json-records.ts';
import { type JsonObject, isObject, objectAt } from '#domain/shapes/json-object.ts';
import { UNKNOWN_SHAPE_ADVICE } from './parsing/json-faults.ts';
import { nearestHeader, nearestShape } from './shapes/nearest-shape.ts';
import { rankLayoutOf } from './formats/rank-list.ts';
import { openSource, type Source } from './parsing/open-source.ts';
import { isCataloguePage, isLongCataloguePage } from './formats/storefront-json.ts';
import { isTaxonomyLine } from './formats/taxonomy-text.ts';
import { isTechnologies } from './formats/technologies-json.ts';

/** Maximum records and bytes read to detect a format. Several records, because the first may be broken or too long. */
const RECORDS_CHECKED_MAX = 50;
const BYTES_CHECKED_MAX = 64 * 1024 * 1024;

/** The detected format, or the reason why it is unknown. */
export type Detected =
  | { readonly format: FormatName }
  | { readonly unknown: string; readonly advice: string };

const CHOOSE_FORMAT = `set --format to one of ${FORMATS.join(', ')}`;

/** Formats that a spreadsheet can have. The other ones are texts. */
const SHEET_FORMATS: readonly FormatName[] = ['ads-archive-csv', 'rank-list', 'mapped-csv'];

/**
 * Detects the format of a file by its content, never by its name. `mapping`: the format of the mapping, if any; every
 * file of the mapping's syntax then has this format. `chosen`: the format of --format, for which only the kind of the
 * content is checked.
 */
export const detectFormat = async (
  path: string,
  mapping: 'mapped-csv' | 'mapped-json' | null,
  chosen?: FormatName,
): Promise<Detected> => {
  const opened = await openSource(path);
  const { content } = opened;
  if (content.kind === 'other') return { unknown: content.is, advice: content.advice };
  const source = firstBytes(opened);
  if (content.kind === 'html page') return detectPage(source, chosen);
  if (content.kind === 'spreadsheet') return detectSheet(source, mapping, chosen);
  if (chosen !== undefined) return { format: chosen };
  const first = await firstText(source);
  if (first === '') {
    const damage = source.damage();
    return damage === null
      ? { unknown: 'is empty', advice: 'remove it, or export it again' }
      : { unknown: damage, advice: 'fetch the file again' };
  }
  if (isTaxonomyText(first)) return { format: 'taxonomy-text' };
  const reopened = firstBytes(await openSource(path));
  const isJson = /^(\{|\[|for \(;;\);)/.test(first);
  if (mapping !== null) return detectMapped(mapping, isJson);
  if (!isJson) return detectCsv(reopened);
  // A page of many products can exceed the size limit of a record, so it is detected by its first bytes.
  return isLongCataloguePage(first) ? { format: 'storefront-json' } : detectJson(reopened);
};

/** Returns the first text of a source that is not blank. */
const firstText = async (source: Source): Promise<string> => {
  for await (const chunk of source.chunks()) {
    const text = chunk
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trimStart();
    if (text !== '') return text;
  }
  return '';
};

const detectMapped = (mapping: 'mapped-csv' | 'mapped-json', isJson: boolean): Detected =>
  isJson === (mapping === 'mapped-json')
    ? { format: mapping }
    : {
        unknown: isJson ? 'is JSON, but the mapping is for CSV' : 'is no JSON, but the mapping is for JSON',
        advice: isJson ? 'use a mapping with "records" and "fields"' : 'use a mapping with "columns"',
      };

const detectPage = async (source: Source, chosen?: FormatName): Promise<Detected> => {
  const detected = await detectJson(source);
  if ('unknown' in detected) {
    return {
      unknown: source.damage() ?? 'is an HTML page without library data, such as a login page',
      advice: 'save a page of the ad library that shows its results, or import an export of it',
    };
  }
  return chosen === undefined || chosen === detected.format
    ? detected
    : { unknown: `is an HTML page, which --format ${chosen} does not read`, advice: 'leave --format out' };
};

const detectSheet = async (
  source: Source,
  mapping: 'mapped-csv' | 'mapped-json' | null,
  chosen?: FormatName,
): Promise<Detected> => {
  if (chosen !== undefined && !SHEET_FORMATS.includes(chosen))
    return {
      unknown: `is a spreadsheet, which --format ${chosen} does not read`,
      advice: 'leave --format out',
    };
  if (mapping !== null) return detectMapped(mapping, false);
  if (chosen !== undefined) return { format: chosen };
  const detected = await detectCsv(source);
  const damage = source.damage();
  return damage !== null && 'unknown' in detected
    ? { unknown: damage, advice: 'save the file again' }
    : detected;
};

/** Returns true when the first line that is neither blank nor a comment is a taxonomy line. */
const isTaxonomyText = (text: string): boolean =>
  isTaxonomyLine(text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '');

/** Limits a source to its first `BYTES_CHECKED_MAX` bytes. */
const firstBytes = (source: Source): Source => ({
  ...source,
  chunks: async function* () {
    let bytes = 0;
    for await (const chunk of source.chunks()) {
      yield chunk;
      bytes += chunk.length;
      if (bytes >= BYTES_CHECKED_MAX) return;
    }
  },
});

const detectCsv = async (source: Source): Promise<Detected> => {
  for await (const item of csvRows(source)) {
    if (item.kind !== 'header') break;
    const has = (names: readonly string[]): boolean => names.some((name) => item.columns.includes(name));
    if (has(ARCHIVE_ID_COLUMNS) && item.columns.some((name) => /^ad_(delivery_|creative_)/.test(name))) {
      return { format: 'ads-archive-csv' };
    }
    // A list of domains alone may not be ranked, so it needs an explicit --format.
    if (typeof rankLayoutOf(item.columns)?.rank === 'string') return { format: 'rank-list' };
    return {
      unknown: `has an unknown format: CSV with the columns ${item.columns.slice(0, 6).join(', ')}; ${nearestHeader(item.columns)}`,
      advice: `describe its columns with --mapping FILE, or ${CHOOSE_FORMAT}`,
    };
  }
  return { unknown: 'has no row', advice: 'remove it, or export it again' };
};

const detectJson = async (source: Source): Promise<Detected> => {
  let checked = 0;
  let first: JsonObject | null = null;
  for await (const item of jsonRecords(source)) {
    const format =
      item.kind === 'broken' ? null : (formatOfRecord(item.value) ?? formatOfEnvelope(item.value));
    if (format !== null) return { format };
    if (item.kind === 'record') first ??= item.value;
    checked += 1;
    if (checked >= RECORDS_CHECKED_MAX) break;
  }
  return {
    unknown: `has an unknown format${first === null ? ': it has no JSON record' : `; ${nearestShape(first)}`}`,
    advice: `${UNKNOWN_SHAPE_ADVICE}, or ${CHOOSE_FORMAT}`,
  };
};

const formatOfRecord = (value: JsonObject): FormatName | null => {
  if (typeof value['type'] === 'string' && /^[a-z_]+\.[a-z_]+$/.test(value['type'])) return 'observations';
  if ('ad_archive_id' in value) return 'web-graphql';
  if ('adArchiveID' in value || 'adArchiveId' in value) {
    const snapshot = objectAt(value, 'snapshot');
    return Object.keys(snapshot).some((name) => name.includes('_')) ? 'web-2024' : 'actor-camel-case';
  }
  if ('isResultComplete' in value && 'inputUrl' in value) return 'actor-camel-case';
  if ('id' in value && Object.keys(value).some((name) => /^ad_(delivery|creat|snapshot)/.test(name))) {
    return 'ads-archive-json';
  }
  if (isTechnologies(value)) return 'technologies-json';
  return isCataloguePage(value) ? 'storefront-json' : null;
};

/** Detects the format of a response without ads by its envelope. `null` when the envelope is unknown. */
const formatOfEnvelope = (value: JsonObject): FormatName | null => {
  if ('is_result_complete' in value) return 'web-2024';
  if ('edges' in value && isObject(value['page_info'])) return 'web-graphql';
  if ('data' in value && isObject(value['paging'])) return 'ads-archive-json';
  return null;
};
