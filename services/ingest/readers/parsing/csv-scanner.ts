export const CSV_ROW_MAX_CHARACTERS = 1_000_000;

export type CsvPiece =
  | {
      readonly kind: 'fields';
      readonly line: number;
      readonly raw: string;
      readonly fields: readonly string[];
    }
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };

type RowAttempt = { readonly fields: string[]; readonly end: number } | { readonly fault: string } | null;

const UNDOUBLED = 'has a quote inside a quoted field that is not doubled';
const UNCLOSED = 'opens a quote that is never closed';

/**
 * RFC 4180; a quote inside an unquoted field is literal. After an unclosed quote, csv-parse inverts the quoting of all
 * later rows; this scanner gives up one line.
 */
export class CsvScanner {
  readonly #delimiter: string;
  #columns = 0;
  #text = '';
  #line: number;
  #broken: { line: number; raw: string; what: string } | null = null;

  constructor(delimiter: string, line = 1) {
    this.#delimiter = delimiter;
    this.#line = line;
  }

  push(text: string): CsvPiece[] {
    this.#text += text;
    return this.#rows(false);
  }

  end(): CsvPiece[] {
    const pieces = this.#rows(true);
    return [...pieces, ...this.#endBroken()];
  }

  #rows(final: boolean): CsvPiece[] {
    const pieces: CsvPiece[] = [];
    let at = 0;
    while (at < this.#text.length) {
      const row = readRow(this.#text, at, this.#delimiter, final);
      const tooLong =
        (row === null ? this.#text.length : 'end' in row ? row.end : at) - at > CSV_ROW_MAX_CHARACTERS;
      if (row === null && !tooLong) {
        if (!final) break;
        at = this.#breakLine(at, UNCLOSED);
      } else if (tooLong) {
        at = this.#breakLine(at, `is longer than ${CSV_ROW_MAX_CHARACTERS} characters, or ${UNCLOSED}`);
      } else if (row === null || 'fault' in row) {
        at = this.#breakLine(at, row?.fault ?? UNCLOSED);
      } else {
        at = this.#takeRow(at, row, pieces);
      }
    }
    this.#text = this.#text.slice(at);
    return pieces;
  }

  #takeRow(at: number, row: { fields: string[]; end: number }, pieces: CsvPiece[]): number {
    const raw = this.#text.slice(at, row.end).replace(/\r?\n$/, '');
    if (raw === '') {
      this.#line += 1;
      return row.end;
    }
    if (this.#columns === 0) this.#columns = row.fields.length;
    if (row.fields.length !== this.#columns) {
      return this.#breakLine(at, `has ${row.fields.length} fields where the header has ${this.#columns}`);
    }
    pieces.push(...this.#endBroken());
    pieces.push({ kind: 'fields', line: this.#line, raw, fields: row.fields });
    this.#line += newlinesIn(this.#text, at, row.end);
    return row.end;
  }

  #breakLine(at: number, what: string): number {
    const newline = this.#text.indexOf('\n', at);
    const end = newline === -1 ? this.#text.length : newline + 1;
    const raw = this.#text.slice(at, end).replace(/\r?\n$/, '');
    if (this.#broken === null) this.#broken = { line: this.#line, raw, what };
    else if (this.#broken.raw.length < CSV_ROW_MAX_CHARACTERS) this.#broken.raw += `\n${raw}`;
    this.#line += 1;
    return end;
  }

  #endBroken(): CsvPiece[] {
    if (this.#broken === null) return [];
    const piece = { kind: 'broken' as const, ...this.#broken };
    this.#broken = null;
    return [piece];
  }
}

const readRow = (text: string, from: number, delimiter: string, final: boolean): RowAttempt => {
  const fields: string[] = [];
  let at = from;
  for (;;) {
    let field: string;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1 || (close === text.length - 1 && !final)) return null;
      field = text.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
      if (text.startsWith('\r\n', at)) at += 1;
      else if (text[at] === '\r' && at === text.length - 1 && !final) return null;
      const next = text[at];
      if (next !== undefined && next !== delimiter && next !== '\n') return { fault: UNDOUBLED };
    } else {
      const end = fieldEnd(text, at, delimiter);
      if (end === text.length && !final) return null;
      const stop = text[end] !== delimiter && text[end - 1] === '\r' && end > at ? end - 1 : end;
      field = text.slice(at, stop);
      at = end;
    }
    fields.push(field);
    if (at >= text.length) return { fields, end: text.length };
    if (text[at] === '\n') return { fields, end: at + 1 };
    at += 1;
  }
};

const closingQuote = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
};

const fieldEnd = (text: string, from: number, delimiter: string): number => {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === delimiter || character === '\n') return at;
  }
  return text.length;
};

const newlinesIn = (text: string, from: number, to: number): number => {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
};
