import { ARCHIVE_ID_NAMES } from './formats/ads-archive-ad.ts';
import { csvRows } from './parsing/csv-rows.ts';
import { FORMATS, type FormatName } from './formats.ts';
import { type JsonEntry, jsonRecords, PATH_SEPARATOR } from './parsing/json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { brokenJson, errorReplyOf, UNKNOWN_SHAPE_ADVICE } from './parsing/json-faults.ts';
import { nearestHeader, nearestShape } from './shapes/nearest-shape.ts';
import { rankLayoutOf } from './formats/rank-list.ts';
import { openSource, type Source } from './parsing/open-source.ts';
import { isTaxonomyLine } from './formats/taxonomy-text.ts';
import { areUnlike, formatOfEnvelope, formatOfRecord, recordPaths } from './shapes/record-format.ts';

/** Several records, because the first may be broken or too long. */
const RECORDS_CHECKED_MAX = 50;
const BYTES_CHECKED_MAX = 64 * 1024 * 1024;
const ENVELOPES_MAX = 8;

export type Detected =
  | { readonly format: FormatName }
  | { readonly unknown: string; readonly advice: string };

const CHOOSE_FORMAT = `set --format to one of ${FORMATS.join(', ')}`;

const SHEET_FORMATS: readonly FormatName[] = ['ads-archive-csv', 'rank-list', 'mapped-csv'];

/**
 * By content, never by file name. `mapping` decides for files of its syntax; `chosen` (--format) checks only the
 * content's kind.
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
  const isJson = /^(?:[{[]|for \(;;\);|\)\]\}')/.test(first);
  if (mapping !== null) return detectMapped(mapping, isJson);
  if (!isJson) return detectCsv(reopened);
  return detectJson(reopened);
};

const firstText = async (source: Source): Promise<string> => {
  for await (const chunk of source.chunks()) {
    const text = chunk.trimStart();
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
      unknown: source.damage() ?? 'is an HTML page without library data',
      advice:
        'save the source of a page of the ad library that shows its results (as "HTML only"), or import an export',
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

const isTaxonomyText = (text: string): boolean =>
  isTaxonomyLine(text.split(/\r?\n/).find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '');

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
    if (item.kind === 'broken')
      return (
        otherText(item.raw) ?? {
          unknown: `has no row that can be read: line ${item.line} ${item.what}`,
          advice: 'fix the line, or export it again',
        }
      );
    if (item.kind !== 'header') break;
    const has = (names: readonly string[]): boolean => names.some((name) => item.columns.includes(name));
    if (has(ARCHIVE_ID_NAMES) && item.columns.some((name) => /^ad_(delivery_|creative_)/.test(name))) {
      return { format: 'ads-archive-csv' };
    }
    // A list of domains alone may not be ranked, so it needs an explicit --format.
    if (typeof rankLayoutOf(item.columns)?.rank === 'string') return { format: 'rank-list' };
    return unknownText(item.raw, item.columns);
  }
  return { unknown: 'has no row', advice: 'remove it, or export it again' };
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

const shownLine = (line: string): string => JSON.stringify(line.slice(0, LINE_SHOWN_MAX));

const otherText = (line: string): Detected | null => {
  const [, is, advice] = OTHER_TEXTS.find(([first]) => first.test(line)) ?? [];
  return is === undefined ? null : { unknown: `${is}: ${shownLine(line)}`, advice };
};

const unknownText = (line: string, columns: readonly string[]): Detected => {
  const other = otherText(line);
  if (other !== null) return other;
  const found =
    columns.length === 1
      ? `text without columns, with the first line ${shownLine(line)}`
      : `CSV with the columns ${columns.slice(0, 6).join(', ')}; ${nearestHeader(columns)}`;
  return {
    unknown: `has an unknown format: ${found}`,
    advice: `describe its columns with --mapping FILE, or ${CHOOSE_FORMAT}`,
  };
};

const detectJson = async (source: Source): Promise<Detected> => {
  const found = new Map<FormatName, string>();
  // The first value with records decides, by all its places: a file may have records of two shapes.
  const find = (value: JsonObject): readonly string[] =>
    found.size > 0
      ? ['']
      : recordPaths(value, (one, path) => {
          const format = formatOfRecord(one);
          if (format !== null && !found.has(format)) found.set(format, path);
          return format !== null;
        });
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
    const envelope = item.kind === 'broken' ? null : envelopeFormat(item.value);
    if (envelope !== null) return { format: envelope };
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

const envelopeFormat = (value: JsonObject, depth = 0): FormatName | null => {
  const own = formatOfEnvelope(value);
  if (own !== null || depth > ENVELOPES_MAX) return own;
  for (const member of Object.values(value)) {
    const inner = isObject(member) ? envelopeFormat(member, depth + 1) : null;
    if (inner !== null) return inner;
  }
  return null;
};

/** Writers of data frames can put each column into a list or an object of its own. */
const isByColumns = (value: JsonObject): boolean => {
  const columns = Object.values(value);
  const { columns: names, data } = value;
  return (
    (Array.isArray(names) && Array.isArray(data) && Array.isArray(data[0])) ||
    (columns.length > 1 &&
      (columns.every((column) => isObject(column) && '0' in column) ||
        columns.every(
          (column) => isFilledList(column) && !(column as readonly unknown[]).flat().some(isObject),
        )))
  );
};

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const unknownJson = (first: JsonEntry | null): Detected => {
  if (first === null)
    return { unknown: 'has no JSON record: its list is empty, or has no objects', advice: 'export it again' };
  if (first.kind === 'broken') {
    const { line, what, advice } = brokenJson(first);
    return { unknown: `has no record that can be read: line ${line} ${what}`, advice };
  }
  const values = Object.values(first.value);
  const empty = Object.entries(first.value).find(([, list]) => Array.isArray(list) && list.length === 0);
  const error = errorReplyOf(first.value);
  if (error !== null) return { unknown: error, advice: 'fetch it again when the API answers with records' };
  if (empty !== undefined && !values.some(isFilledList))
    return {
      unknown: `has no record: ${empty[0]} is an empty list`,
      advice: 'fetch it again, or leave it out',
    };
  return {
    unknown: `has an unknown format; ${nearestShape(first.value)}`,
    advice: `${UNKNOWN_SHAPE_ADVICE}, or ${CHOOSE_FORMAT}`,
  };
};
