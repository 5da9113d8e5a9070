import { refusal, type RefusedRecord } from '../record.ts';
import { shortList } from '../shapes/nearest-shape.ts';
import type { Source } from './open-source.ts';

export const CSV_ROW_MAX_CHARACTERS = 1_000_000;
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Tells spreadsheets the delimiter. A program that saves it again may fill it with delimiters. */
const DELIMITER_LINE = /^"?sep=(\\t|[^\r\n])"?[,;\t|]*\r?\n\uFEFF?/i;
const HEADER_MAX_CHARACTERS = 64 * 1024;
const UNDOUBLED = 'has a quote inside a quoted field that is not doubled';
const UNCLOSED = 'opens a quote that is never closed';
const TOO_LONG = `is longer than ${CSV_ROW_MAX_CHARACTERS} characters, or ${UNCLOSED}`;

export type CsvRow = { readonly [column: string]: string };
type Broken = { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };
export type CsvItem =
  | { readonly kind: 'header'; readonly columns: readonly string[]; readonly raw: string }
  | { readonly kind: 'row'; readonly line: number; readonly raw: string; readonly row: CsvRow }
  | Broken;

type Piece =
  | { readonly kind: 'fields'; readonly line: number; readonly raw: string; readonly fields: string[] }
  | Broken;

/**
 * Damage can cut off the last row, so a row is held back until the next arrives, and the last one is yielded as broken.
 */
export async function* csvRows(source: Source): AsyncGenerator<CsvItem> {
  const isSheet = source.content.kind === 'spreadsheet';
  let columns: readonly string[] | null = null;
  let repeated: readonly string[] = [];
  let held: CsvItem | null = null;
  for await (const piece of isSheet ? sheetPieces(source) : textPieces(source)) {
    if (columns === null && piece.kind === 'fields') {
      columns = piece.fields.map((name) => name.trim());
      if (columns.some((name) => /\r(?!\n)/.test(name))) {
        const [raw = ''] = piece.raw.split('\r', 1);
        yield { ...piece, kind: 'broken', raw, what: 'ends with CR alone, and lines end with LF or CR LF' };
        return;
      }
      repeated = columns.filter((name, index, all) => name !== '' && all.indexOf(name) !== index);
      yield { kind: 'header', columns, raw: piece.raw };
      continue;
    }
    if (held !== null) yield held;
    held = piece.kind === 'broken' ? piece : rowOf(columns ?? [], repeated, piece);
  }
  if (held === null) return;
  if (held.kind === 'row' && source.damage() !== null && !isSheet) {
    const { line, raw } = held;
    yield { kind: 'broken', line, raw, what: 'is the last row before the file breaks off' };
  } else yield held;
}

async function* textPieces(source: Source): AsyncGenerator<Piece> {
  let scanner: CsvScanner | null = null;
  let first = '';
  for await (const chunk of source.chunks()) {
    let text = chunk;
    if (scanner === null) {
      const [line = '', named = ''] = DELIMITER_LINE.exec(text) ?? [];
      text = text.slice(line.length);
      first = line.trim();
      scanner = new CsvScanner(delimiterOf(text, named.replace('\\t', '\t')), first === '' ? 1 : 2);
    }
    for (const piece of scanner.push(text, false)) {
      // A rejects file needs the line too.
      yield first === '' ? piece : { ...piece, raw: `${first}\n${piece.raw}` };
      first = '';
    }
  }
  if (scanner !== null) yield* scanner.push('', true);
}

const delimiterOf = (text: string, named: string): string => {
  const header = text.slice(0, HEADER_MAX_CHARACTERS).split('\n', 1)[0] ?? '';
  if (named !== '' && header.includes(named)) return named;
  const count = (delimiter: string): number => header.split(delimiter).length;
  return DELIMITERS.reduce<string>((best, next) => (count(next) > count(best) ? next : best), ',');
};

/**
 * RFC 4180; a quote inside an unquoted field is literal. After an unclosed quote, csv-parse inverts the quoting of all
 * later rows; this scanner gives up one line.
 */
class CsvScanner {
  readonly #delimiter: string;
  #columns: number | null = null;
  #text = '';
  #line: number;
  #broken: Broken | null = null;

  constructor(delimiter: string, line: number) {
    this.#delimiter = delimiter;
    this.#line = line;
  }

  *push(text: string, final: boolean): Generator<Piece> {
    this.#text += text;
    const blankLine = /\r?\n/y;
    let at = 0;
    while (at < this.#text.length) {
      blankLine.lastIndex = at;
      if (blankLine.test(this.#text)) {
        at = blankLine.lastIndex;
        this.#line += 1;
        continue;
      }
      const row = readRow(this.#text, at, this.#delimiter, final);
      const isTooLong = (row?.end ?? this.#text.length) - at > CSV_ROW_MAX_CHARACTERS;
      if (row === null && !isTooLong && !final) break;
      const what = isTooLong ? TOO_LONG : row === null ? UNCLOSED : this.#faultOf(row);
      const newline = this.#text.indexOf('\n', at);
      const end = what === null && row !== null ? row.end : newline === -1 ? this.#text.length : newline + 1;
      const raw = this.#text.slice(at, end).replace(/\r?\n$/, '');
      if (what !== null) {
        this.#breakLine(raw, what);
      } else {
        if (this.#broken !== null) yield this.#broken;
        this.#broken = null;
        this.#columns ??= row?.fields.length ?? null;
        yield { kind: 'fields', line: this.#line, raw, fields: row?.fields ?? [] };
      }
      this.#line += raw.split('\n').length;
      at = end;
    }
    this.#text = this.#text.slice(at);
    if (final && this.#broken !== null) yield this.#broken;
  }

  #faultOf({ fault, fields }: Row): string | null {
    if (fault !== null || fields.length === (this.#columns ?? fields.length)) return fault;
    return `has ${fields.length} fields where the header has ${this.#columns}`;
  }

  /** Broken lines that follow one another are one item. */
  #breakLine(raw: string, what: string): void {
    if (this.#broken === null) this.#broken = { kind: 'broken', line: this.#line, raw, what };
    else if (this.#broken.raw.length < CSV_ROW_MAX_CHARACTERS)
      this.#broken = { ...this.#broken, raw: `${this.#broken.raw}\n${raw}` };
  }
}

type Row = { readonly fields: string[]; readonly end: number; readonly fault: string | null };

/** `null` when the row may go on after the text. */
const readRow = (text: string, from: number, delimiter: string, final: boolean): Row | null => {
  const fields: string[] = [];
  for (let at = from; ; at += 1) {
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1) return null;
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'));
      at = close + (text.startsWith('\r\n', close + 1) ? 2 : 1);
      if (!final && /^\r?$/.test(text.slice(close + 1, close + 3))) return null;
    } else {
      const start = at;
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at += 1;
      if (at === text.length && !final) return null;
      const isEnd = text[at] !== delimiter && at > start && text[at - 1] === '\r';
      fields.push(text.slice(start, isEnd ? at - 1 : at));
    }
    if (at >= text.length) return { fields, end: text.length, fault: null };
    if (text[at] === '\n') return { fields, end: at + 1, fault: null };
    if (text[at] !== delimiter) return { fields, end: at, fault: UNDOUBLED };
  }
};

const closingQuote = (text: string, from: number): number => {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
};

async function* sheetPieces(source: Source): AsyncGenerator<Piece> {
  let columns = 0;
  for await (const { line, fields } of source.rows()) {
    if (columns === 0) columns = fields.length;
    const row = [...fields, ...Array.from({ length: Math.max(0, columns - fields.length) }, () => '')];
    const raw = row
      .map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
      .join(',');
    yield row.slice(columns).some((field) => field !== '')
      ? { kind: 'broken', line, raw, what: `has ${row.length} cells where the header has ${columns}` }
      : { kind: 'fields', line, raw, fields: row.slice(0, columns) };
  }
}

const rowOf = (
  columns: readonly string[],
  repeated: readonly string[],
  { line, raw, fields }: Piece & { kind: 'fields' },
): CsvItem => {
  const row: { [column: string]: string } = {};
  columns.forEach((name, index) => {
    row[name] ||= fields[index] ?? '';
  });
  const other = repeated.find((name) =>
    columns.some((one, index) => one === name && !['', row[name]].includes(fields[index])),
  );
  if (other === undefined) return { kind: 'row', line, raw, row };
  return { kind: 'broken', line, raw, what: `has two values in columns that are both named ${other}` };
};

/** The cause is a part of every row, and so of the header. */
const ADVICE = [
  ['where the header has', 'give each column a name in the header, or quote fields with the delimiter'],
  ['columns that are both named', 'rename or remove one of the two columns'],
] as const;

export const brokenRow = (item: Broken): RefusedRecord => {
  const advice = ADVICE.find(([what]) => item.what.includes(what))?.[1] ?? 'fix the row and import it again';
  return refusal(item, item.what, advice);
};

export const anotherHeader = (
  columns: readonly string[],
  missing: readonly string[],
  advice: string,
): RefusedRecord => {
  const what = `has an unexpected header: missing ${missing.join(', ')} (found ${shortList(columns)})`;
  return refusal({ line: 1, raw: null }, what, advice);
};
