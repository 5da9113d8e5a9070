import { ARCHIVE_ID_COLUMNS } from './formats/ads-archive-csv.ts';
import { csvRows } from './parsing/csv-rows.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { jsonRecords } from './parsing/json-records.ts';
import { type JsonObject, isObject, objectAt } from './parsing/json-value.ts';
import { rankLayoutOf } from './formats/rank-list.ts';
import { openSource, type Source } from './parsing/open-source.ts';
import { isCataloguePage, isLongCataloguePage } from './formats/storefront-json.ts';
import { isTaxonomyLine } from './formats/taxonomy-text.ts';
import { isTechnologies } from './formats/technologies-json.ts';

/** So many records are looked at before a file is called unknown: the first of them may be broken, or far too long. */
const RECORDS_LOOKED_AT_MAX = 50;
const BYTES_LOOKED_AT_MAX = 64 * 1024 * 1024;

export type Detected =
  | { readonly format: FormatName }
  | { readonly unknown: string; readonly advice: string };

const KNOWN = `name one of ${FORMATS.join(', ')} with --format`;

/** Tells a file's format by its first bytes, never by its name. */
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
      ? { unknown: 'is empty', advice: 'take it out, or export it again' }
      : { unknown: damage, advice: 'fetch the file again' };
  }
  if (isTaxonomyText(first)) return { format: 'taxonomy-text' };
  const again = firstBytes(await openSource(path));
  if (!/^(\{|\[|for \(;;\);)/.test(first)) return detectCsv(again, hasMapping);
  // A page of many products is longer than any record of ads.
  return isLongCataloguePage(first) ? { format: 'storefront-json' } : detectJson(again);
};

/** By its first line that is no remark. */
const isTaxonomyText = (text: string): boolean =>
  isTaxonomyLine(text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '');

/** The beginning of a source. */
const firstBytes = (source: Source): Source => ({
  ...source,
  chunks: async function* () {
    let bytes = 0;
    for await (const chunk of source.chunks()) {
      yield chunk;
      bytes += chunk.length;
      if (bytes >= BYTES_LOOKED_AT_MAX) return;
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
    // Domains alone may be any list of domains: only who feeds them knows that it is ranked.
    if (typeof rankLayoutOf(item.columns)?.rank === 'string') return { format: 'rank-list' };
    return {
      unknown: `is of an unknown format: a CSV with the columns ${item.columns.slice(0, 6).join(', ')}`,
      advice: `say with --mapping FILE what its columns hold, or ${KNOWN}`,
    };
  }
  return { unknown: 'is of an unknown format', advice: KNOWN };
};

const detectJson = async (source: Source): Promise<Detected> => {
  let looked = 0;
  for await (const item of jsonRecords(source)) {
    const format =
      item.kind === 'broken' ? null : (formatOfRecord(item.value) ?? formatOfEnvelope(item.value));
    if (format !== null) return { format };
    looked += 1;
    if (looked >= RECORDS_LOOKED_AT_MAX) break;
  }
  return { unknown: 'is of an unknown format: no record of it is an ad of a known shape', advice: KNOWN };
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

/** What holds no ad at all still shows its shape. */
const formatOfEnvelope = (value: JsonObject): FormatName | null => {
  if ('is_result_complete' in value) return 'web-2024';
  if ('edges' in value && isObject(value['page_info'])) return 'web-graphql';
  if ('data' in value && isObject(value['paging'])) return 'ads-archive-json';
  return null;
};
