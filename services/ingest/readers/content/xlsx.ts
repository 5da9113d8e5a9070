import { SaxesParser } from 'saxes';
import { type Entry, openPromise } from 'yauzl';
import { CSV_ROW_MAX_CHARACTERS } from '../parsing/csv-rows.ts';
import type { SourceContent } from './content-kind.ts';

export type SheetRow = { readonly line: number; readonly fields: readonly string[] };

const PARTS_MAX = 10_000;
/** Decompressed. A sheet with Excel's maximum of rows is smaller. */
const PART_MAX_BYTES = 4 * 1024 * 1024 * 1024;
/** XML text without a tag is collected in memory up to this limit. */
const TEXT_MAX_BYTES = 1024 * 1024;
const SHARED_CHARACTERS_MAX = 64 * 1024 * 1024;
const COLUMNS_MAX = 16_384;
const WORKBOOK = 'xl/workbook.xml';
const EPOCH_1900_MS = Date.UTC(1899, 11, 30);
const EPOCH_1904_MS = Date.UTC(1904, 0, 1);
const DAY_MS = 86_400_000;
/** Spreadsheets round longer numbers. Only ids are that large. */
const LONG_NUMBERS_FROM = 1e15;

class WorkbookFault extends Error {}

/** Completes "the workbook …". Throws errors of the file system again. */
export const workbookFault = (error: unknown): string => {
  if (error instanceof WorkbookFault) return error.message;
  if (!(error instanceof Error) || ('code' in error && !String(error.code).startsWith('Z_'))) throw error;
  return `is a damaged ZIP archive: ${error.message}`;
};

/** The start of an element, or its end with the text since the last tag. Names are without their prefix. */
type Tag =
  | { readonly starts: string; readonly attributes: { readonly [name: string]: string } }
  | { readonly ends: string; readonly text: string };

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

class Archive implements Disposable {
  readonly #zip: Awaited<ReturnType<typeof openPromise>>;
  /** Part names are not case-sensitive (ECMA-376 part 2). */
  readonly parts = new Map<string, Entry>();

  private constructor(zip: Awaited<ReturnType<typeof openPromise>>) {
    this.#zip = zip;
  }

  static async open(path: string): Promise<Archive> {
    const archive = new Archive(await openPromise(path, { autoClose: false, validateEntrySizes: true }));
    try {
      for await (const entry of archive.#zip.eachEntry()) {
        if (archive.parts.size >= PARTS_MAX) throw new WorkbookFault(`has more than ${PARTS_MAX} parts`);
        archive.parts.set(entry.fileName.toLowerCase(), entry);
      }
      return archive;
    } catch (error) {
      archive[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#zip.close();
  }

  /** Yields the tags of each piece; the phonetic reading of a text is skipped. Fails on entities of the document. */
  async *tags(part: string): AsyncGenerator<{ readonly tags: readonly Tag[]; readonly share: number }> {
    const entry = this.parts.get(part.toLowerCase());
    if (entry === undefined) throw new WorkbookFault(`lacks the part ${part}`);
    if (entry.isEncrypted()) throw new WorkbookFault('is protected by a password');
    if (entry.uncompressedSize > PART_MAX_BYTES)
      throw new WorkbookFault(`has a part ${part} of more than ${PART_MAX_BYTES} bytes`);
    const parser = new SaxesParser();
    let [tags, text, phonetic]: [Tag[], string, boolean] = [[], '', false];
    parser.on('opentag', ({ name, attributes }) => {
      const starts = withoutPrefix(name);
      text = '';
      phonetic ||= starts === 'rPh';
      if (!phonetic) tags.push({ starts, attributes });
    });
    parser.on('closetag', ({ name }) => {
      const ends = withoutPrefix(name);
      if (!phonetic) tags.push({ ends, text });
      text = '';
      phonetic &&= ends !== 'rPh';
    });
    parser.on('text', (piece) => {
      text += piece;
    });
    parser.on('error', (error) => {
      throw new WorkbookFault(`has a part ${part} that is not XML: ${error.message}`);
    });
    const decoder = new TextDecoder();
    let [bytes, quietBytes] = [0, 0];
    for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
      bytes += (chunk as Buffer).length;
      try {
        parser.write(decoder.decode(chunk as Buffer, { stream: true }));
      } finally {
        // The rows before the damage are whole.
        yield { tags, share: bytes / Math.max(1, entry.uncompressedSize) };
      }
      quietBytes = tags.length > 0 ? 0 : quietBytes + (chunk as Buffer).length;
      if (quietBytes > TEXT_MAX_BYTES)
        throw new WorkbookFault(`has a text of more than ${TEXT_MAX_BYTES} bytes in its part ${part}`);
      tags = [];
    }
    parser.close();
  }

  async *starts(part: string): AsyncGenerator<Extract<Tag, { starts: string }>> {
    for await (const { tags } of this.tags(part)) yield* tags.filter((tag) => 'starts' in tag);
  }
}

/**
 * Rows of the first visible sheet. A rounded number keeps its exponent, which the id parser refuses. Throws errors for
 * `workbookFault`.
 */
export async function* xlsxRows(path: string, read: (share: number) => void): AsyncGenerator<SheetRow> {
  using archive = await Archive.open(path);
  const workbook = await readWorkbook(archive);
  let [line, fields, characters]: [number, string[], number] = [0, [], 0];
  let cell: Cell = { column: 0, type: '', style: 0, text: '' };
  for await (const { tags, share } of archive.tags(workbook.sheetPart)) {
    read(share);
    for (const tag of tags) {
      if ('starts' in tag) {
        const { starts, attributes } = tag;
        if (starts === 'row') {
          [line, fields, characters] = [Number(attributes['r'] ?? line + 1), [], 0];
        } else if (starts === 'c') {
          const column = columnOf(attributes['r'] ?? '') ?? fields.length;
          if (column >= COLUMNS_MAX) throw new WorkbookFault(`has more than ${COLUMNS_MAX} columns`);
          cell = { column, type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0), text: '' };
        }
      } else if (tag.ends === 'v' || tag.ends === 't') {
        cell.text += tag.text;
      } else if (tag.ends === 'c') {
        while (fields.length < cell.column) fields.push('');
        const text = cellText(cell, workbook);
        fields[cell.column] = text;
        characters += text.length;
        cell.text = '';
      } else if (tag.ends === 'row' && fields.some((field) => field !== '')) {
        yield { line, fields };
      }
      if (characters + cell.text.length > CSV_ROW_MAX_CHARACTERS)
        throw new WorkbookFault(`has more than ${CSV_ROW_MAX_CHARACTERS} characters in its row ${line}`);
    }
  }
}

type Cell = { readonly column: number; readonly type: string; readonly style: number; text: string };
type Workbook = {
  readonly sheetPart: string;
  /** Milliseconds since 1970 of day 0 of the date numbers. */
  readonly epochMs: number;
  readonly sharedTexts: readonly string[];
  readonly dateStyles: ReadonlySet<number>;
};

const readWorkbook = async (archive: Archive): Promise<Workbook> => {
  const sheets: { readonly [name: string]: string }[] = [];
  let epochMs = EPOCH_1900_MS;
  for await (const { starts, attributes } of archive.starts(WORKBOOK)) {
    if (starts === 'workbookPr' && /^(?:1|true)$/.test(attributes['date1904'] ?? '')) epochMs = EPOCH_1904_MS;
    if (starts === 'sheet') sheets.push(attributes);
  }
  const sheet = sheets.find(({ state }) => state === undefined) ?? sheets[0];
  if (sheet === undefined) throw new WorkbookFault('has no sheet');
  /** By id, and by the end of their type. */
  const parts = new Map<string, string>();
  for await (const { attributes } of archive.starts('xl/_rels/workbook.xml.rels')) {
    const { Id: id = '', Type: type = '', Target: target = '' } = attributes;
    const part = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
    parts.set(id, part).set(type.replace(/^.*\//, '/'), part);
  }
  const relation = Object.entries(sheet).find(([name]) => /^(?:\w+:)?id$/.test(name))?.[1] ?? '';
  const sheetPart = parts.get(relation);
  if (sheetPart === undefined) throw new WorkbookFault('does not say where its first sheet is');
  return {
    sheetPart,
    epochMs,
    sharedTexts: await readSharedTexts(archive, parts.get('/sharedStrings')),
    dateStyles: await readDateStyles(archive, parts.get('/styles')),
  };
};

const readSharedTexts = async (archive: Archive, part: string | undefined): Promise<readonly string[]> => {
  const texts: string[] = [];
  let [current, characters] = ['', 0];
  for await (const { tags } of part === undefined ? [] : archive.tags(part)) {
    for (const tag of tags) {
      if (!('ends' in tag)) continue;
      if (tag.ends === 't') {
        current += tag.text;
        characters += tag.text.length;
      } else if (tag.ends === 'si') {
        texts.push(unescaped(current));
        current = '';
        characters += 1;
      }
    }
    if (characters > SHARED_CHARACTERS_MAX)
      throw new WorkbookFault(`has more than ${SHARED_CHARACTERS_MAX} characters of text; save it as CSV`);
  }
  return texts;
};

const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);
const isDateCode = (code: string): boolean => /[yd]/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, ''));

const readDateStyles = async (archive: Archive, part: string | undefined): Promise<ReadonlySet<number>> => {
  const dateFormats = new Set<number>();
  const dateStyles = new Set<number>();
  let style: number | null = null;
  for await (const { starts, attributes } of part === undefined ? [] : archive.starts(part)) {
    const format = Number(attributes['numFmtId'] ?? 0);
    if (starts === 'numFmt' && isDateCode(attributes['formatCode'] ?? '')) dateFormats.add(format);
    if (starts === 'cellXfs') style = 0;
    if (starts !== 'xf' || style === null) continue;
    if (isBuiltInDate(format) || dateFormats.has(format)) dateStyles.add(style);
    style += 1;
  }
  return dateStyles;
};

/** From 0: `AB12` is 27. `null` without a reference. */
const columnOf = (reference: string): number | null => {
  const letters = /^[A-Z]{1,3}(?=\d)/.exec(reference)?.[0];
  if (letters === undefined) return null;
  return Array.from(letters).reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
};

/** Restores characters that XML cannot have, which a workbook writes as `_x000D_` (ECMA-376 part 1, ST_Xstring). */
const unescaped = (text: string): string =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const cellText = ({ type, style, text }: Cell, { sharedTexts, dateStyles, epochMs }: Workbook): string => {
  if (type === 's') return sharedTexts[Number(text)] ?? '';
  if (type === 'inlineStr' || type === 'str') return unescaped(text);
  if (type === 'b') return text === '1' ? 'true' : 'false';
  if (type === 'e') return '';
  if (type === 'd' || text === '') return text;
  return dateStyles.has(style) ? dateText(Number(text), epochMs) : numberText(text);
};

const dateText = (days: number, epochMs: number): string => {
  const time = new Date(epochMs + Math.round(days * DAY_MS));
  if (Number.isNaN(time.getTime())) return String(days);
  const text = time.toISOString();
  // A sheet has no time zone: a date is read, but a time is refused where a zone is needed.
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19);
};

const numberText = (literal: string): string =>
  /^-?\d+$/.test(literal) || Math.abs(Number(literal)) >= LONG_NUMBERS_FROM
    ? literal
    : String(Number(literal));

const SAVE_WORKBOOK = 'open it and save it as XLSX or CSV';
const OTHER_ARCHIVES = [
  [/^xl\/workbook\.bin$/, 'is a binary Excel workbook (XLSB)', SAVE_WORKBOOK],
  [/^content\.xml$/, 'is an OpenDocument file (ODS or ODT)', SAVE_WORKBOOK],
  [/^word\//, 'is a Word document, not an export', 'export the ads as JSON, CSV or XLSX'],
  [/^/, 'is a ZIP archive, not an export', 'unpack it and import the files that it contains'],
] as const;

export const archiveContent = async (path: string): Promise<SourceContent> => {
  try {
    using archive = await Archive.open(path);
    const names = [...archive.parts.keys()];
    if (names.includes(WORKBOOK)) return { kind: 'spreadsheet' };
    const [, is, advice] =
      OTHER_ARCHIVES.find(([part]) => names.some((name) => part.test(name))) ?? OTHER_ARCHIVES[3];
    return { kind: 'other', is, advice };
  } catch (error) {
    return { kind: 'other', is: workbookFault(error), advice: 'fetch or save the file again' };
  }
};
