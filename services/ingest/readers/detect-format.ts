import { ARCHIVE_ID_NAMES } from './shapes/known-shapes.ts';
import { csvRows } from './parsing/csv-rows.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { type JsonEntry, jsonRecords, PATH_SEPARATOR } from './parsing/json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { shown } from './fields/ad-ids.ts';
import { brokenJson, errorReplyOf, UNKNOWN_SHAPE_ADVICE } from './parsing/json-faults.ts';
import { nearestHeader, nearestShape } from './shapes/nearest-shape.ts';
import { isWebHeader } from './formats/csv-ads.ts';
import { rankLayoutOf } from './formats/rank-list.ts';
import { snake } from './parsing/snake-case.ts';
import { openSource, type Source } from './parsing/open-source.ts';
import { isTaxonomyLine } from './formats/taxonomy-text.ts';
import { areUnlike, formatOfEnvelope, formatOfRecord, recordPaths } from './shapes/record-format.ts';

/** Several records, because the first may be broken or too long. */
const RECORDS_CHECKED_MAX = 50;
const BYTES_CHECKED_MAX = 64 * 1024 * 1024;

export type Detected =
  | { readonly format: FormatName }
  | { readonly unknown: string; readonly advice: string };

const CHOOSE_FORMAT = `set --format to one of ${FORMATS.join(', ')}`;

const SHEET_FORMATS: readonly FormatName[] = ['ads-archive-csv', 'web-csv', 'rank-list', 'mapped-csv'];
const MEND = {
  text: 'fetch the file again',
  spreadsheet: 'save the file again',
  'html page':
    'save the source of a page of the ad library that shows its results (as "HTML only"), or import an export',
} as const;

/**
 * By content, never by file name. `mapping` decides for files of its syntax; `chosen` (--format) checks only the
 * content's kind.
 */
export const detectFormat = async (
  path: string,
  mapping: 'mapped-csv' | 'mapped-json' | null,
  chosen?: FormatName,
): Promise<Detected> => {
  const source = firstBytes(await openSource(path));
  const { content } = source;
  if (content.kind === 'other') return { unknown: content.is, advice: content.advice };
  const { kind } = content;
  if (chosen !== undefined && kind !== 'html page')
    return kind === 'text' || SHEET_FORMATS.includes(chosen)
      ? { format: chosen }
      : notRead('a spreadsheet', chosen);
  const detected = await (kind === 'html page' ? detectJson(source) : detectText(source, mapping));
  const damage = source.damage();
  if ('unknown' in detected) return damage === null ? detected : { unknown: damage, advice: MEND[kind] };
  return [undefined, detected.format].includes(chosen) ? detected : notRead('an HTML page', chosen);
};

const notRead = (what: string, format = ''): Detected => ({
  unknown: `is ${what}, which --format ${format} does not read`,
  advice: 'leave --format out',
});

const detectText = async (
  source: Source,
  mapping: 'mapped-csv' | 'mapped-json' | null,
): Promise<Detected> => {
  const isText = source.content.kind === 'text';
  const first = isText ? await firstText(source) : '';
  if (isText && first === '') return { unknown: 'is empty', advice: 'remove it, or export it again' };
  const line = first.split(/\r?\n/).find((one) => one.trim() !== '' && !one.startsWith('#')) ?? '';
  if (isTaxonomyLine(line)) return { format: 'taxonomy-text' };
  const isJson = /^(?:[{[]|for \(;;\);|\)\]\}')/.test(first);
  if (mapping === null) return isJson ? detectJson(source) : detectCsv(source);
  if (isJson === (mapping === 'mapped-json')) return { format: mapping };
  return isJson
    ? { unknown: 'is JSON, but the mapping is for CSV', advice: 'use a mapping with "records" and "fields"' }
    : { unknown: 'is no JSON, but the mapping is for JSON', advice: 'use a mapping with "columns"' };
};

const firstText = async (source: Source): Promise<string> => {
  for await (const chunk of source.chunks()) {
    const text = chunk.trimStart();
    if (text !== '') return text;
  }
  return '';
};

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
    const isHeader = item.kind === 'header';
    const format = isHeader ? formatOfHeader(item.columns) : null;
    if (format !== null) return { format };
    if (isHeader) return otherText(item.raw) ?? unknownColumns(item.raw, item.columns);
    if (item.kind !== 'broken') break;
    const unknown = `has no row that can be read: line ${item.line} ${item.what}`;
    return otherText(item.raw) ?? { unknown, advice: 'fix the line, or export it again' };
  }
  return { unknown: 'has no row', advice: 'remove it, or export it again' };
};

const formatOfHeader = (columns: readonly string[]): FormatName | null => {
  if (isWebHeader(columns)) return 'web-csv';
  const names = columns.map(snake);
  const hasId = ARCHIVE_ID_NAMES.some((name) => names.includes(name));
  if (hasId && names.some((name) => /^ad_(delivery_|creative_)/.test(name))) return 'ads-archive-csv';
  // A list of domains alone may not be ranked, so it needs an explicit --format.
  return typeof rankLayoutOf(columns)?.rank === 'string' ? 'rank-list' : null;
};

const OTHER_TEXTS = [
  [
    /^(?:error\b(?!,)|\d{3} [A-Z]|too many|rate.?limit|unauthori[sz]ed|forbidden|access denied|not found|bad gateway|service unavailable|internal server)/i,
    'is an error message and no export',
    'fetch it again',
  ],
  [
    /^(?:(?:var|let|const|window|self|globalThis|export|module)\b[^,;\t]*=|[\w$.]+\(\s*[{[])/,
    'is a script and no JSON',
    'keep only its value, from the first { or [ to the bracket that closes it',
  ],
] as const;
const LINE_SHOWN_MAX = 200;

const otherText = (line: string): Detected | null => {
  const [, is, advice] = OTHER_TEXTS.find(([first]) => first.test(line)) ?? [];
  return is === undefined ? null : { unknown: `${is}: ${shown(line, LINE_SHOWN_MAX)}`, advice };
};

const unknownColumns = (line: string, columns: readonly string[]): Detected => {
  const is =
    columns.length === 1
      ? `text without columns, with the first line ${shown(line, LINE_SHOWN_MAX)}`
      : `CSV with the columns ${columns.slice(0, 6).join(', ')}; ${nearestHeader(columns)}`;
  const advice = `describe its columns with --mapping FILE, or ${CHOOSE_FORMAT}`;
  return { unknown: `has an unknown format: ${is}`, advice };
};

const detectJson = async (source: Source): Promise<Detected> => {
  const found = new Map<FormatName, string>();
  // The first value with records decides, by all its places: a file may have records of two shapes.
  const findIn = (value: JsonObject, formatOf: typeof formatOfRecord): readonly string[] =>
    recordPaths(value, (one, path) => {
      const format = formatOf(one, path);
      if (format !== null && !found.has(format)) found.set(format, path);
      return format !== null;
    });
  const find = (value: JsonObject): readonly string[] =>
    found.size > 0 ? [''] : findIn(value, formatOfRecord);
  let checked = 0;
  let first: JsonEntry | null = null;
  for await (const item of jsonRecords(source, { find })) {
    if (first === null && item.kind !== 'broken' && isByColumns(item.value))
      return {
        unknown: 'is a data frame written by columns',
        advice: "write it by rows: orient='records' in pandas, dataframe = 'rows' with auto_unbox in R",
      };
    const [format] = found.keys();
    if (format !== undefined)
      return [...found.keys()].some((other) => areUnlike(format, other)) ? severalFormats(found) : { format };
    if (item.kind !== 'broken') findIn(item.value, formatOfEnvelope);
    const [envelope] = found.keys();
    if (envelope !== undefined) return { format: envelope };
    if (first === null || first.kind === 'broken') first = item;
    checked += 1;
    if (checked >= RECORDS_CHECKED_MAX) break;
  }
  return unknownJson(first);
};

const severalFormats = (found: ReadonlyMap<FormatName, string>): Detected => ({
  unknown: `has records of several formats: ${[...found].map(([format, path]) => `${format} at ${path.replaceAll(PATH_SEPARATOR, '.')}`).join(', ')}`,
  advice: 'import it once for each of them with --format, or split it',
});

/** Writers of data frames can put each column into a list or an object of its own. */
const isByColumns = (value: JsonObject): boolean => {
  const columns = Object.values(value);
  const { columns: names, data } = value;
  if (Array.isArray(names) && Array.isArray(data) && Array.isArray(data[0])) return true;
  const isList = (column: unknown): boolean =>
    isFilledList(column) && !(column as readonly unknown[]).flat().some(isObject);
  const isNumbered = (column: unknown): boolean => isObject(column) && '0' in column;
  return columns.length > 1 && (columns.every(isNumbered) || columns.every(isList));
};

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const unknownJson = (first: JsonEntry | null): Detected => {
  if (first === null)
    return { unknown: 'has no JSON record: its list is empty, or has no objects', advice: 'export it again' };
  if (first.kind === 'broken') {
    const { line, what, advice } = brokenJson(first);
    return { unknown: `has no record that can be read: line ${line} ${what}`, advice };
  }
  const unknown = errorReplyOf(first.value);
  if (unknown !== null) return { unknown, advice: 'fetch it again when the API answers with records' };
  const lists = Object.entries(first.value).filter(([, list]) => Array.isArray(list));
  const [empty] = lists[0] ?? [];
  return empty !== undefined && lists.every(([, list]) => !isFilledList(list))
    ? { unknown: `has no record: ${empty} is an empty list`, advice: 'fetch it again, or leave it out' }
    : {
        unknown: `has an unknown format; ${nearestShape(first.value)}`,
        advice: `${UNKNOWN_SHAPE_ADVICE}, or ${CHOOSE_FORMAT}`,
      };
};
