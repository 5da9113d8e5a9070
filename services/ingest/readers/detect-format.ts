import { ARCHIVE_ID_COLUMNS } from './formats/ads-archive-csv.ts';
import { csvRows } from './parsing/csv-rows.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { jsonRecords } from './parsing/json-records.ts';
import { type JsonObject, isObject, objectAt } from './parsing/json-value.ts';
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

/** Detects the format of a file by its content, never by its name. With a mapping, every CSV is `mapped-csv`. */
export const detectFormat = async (path: string, hasMapping: boolean): Promise<Detected> => {
  const source = firstBytes(await openSource(path));
  let first = '';
  for await (const chunk of source.chunks()) {
    if (chunk[0] === 0xff || chunk[0] === 0xfe)
      return { unknown: 'is not UTF-8 text', advice: 'save it as UTF-8' };
    first = chunk
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trimStart();
    if (first !== '') break;
  }
  if (first === '') {
    const damage = source.damage();
    return damage === null
      ? { unknown: 'is empty', advice: 'remove it, or export it again' }
      : { unknown: damage, advice: 'fetch the file again' };
  }
  if (isTaxonomyText(first)) return { format: 'taxonomy-text' };
  const reopened = firstBytes(await openSource(path));
  if (!/^(\{|\[|for \(;;\);)/.test(first)) return detectCsv(reopened, hasMapping);
  // A page of many products can exceed the size limit of a record, so it is detected by its first bytes.
  return isLongCataloguePage(first) ? { format: 'storefront-json' } : detectJson(reopened);
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

const detectCsv = async (source: Source, hasMapping: boolean): Promise<Detected> => {
  if (hasMapping) return { format: 'mapped-csv' };
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
  return { unknown: 'has an unknown format', advice: CHOOSE_FORMAT };
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
