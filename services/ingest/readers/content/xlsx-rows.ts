import { CSV_ROW_MAX_CHARACTERS } from '../parsing/csv-scanner.ts';
import { WorkbookFault, XlsxArchive } from './xlsx-archive.ts';
import { readWorkbook, unescaped, type Workbook } from './xlsx-workbook.ts';

export type SheetRow = { readonly line: number; readonly fields: readonly string[] };

const COLUMNS_MAX = 16_384;
const DAY_MS = 86_400_000;
/** Spreadsheets round longer numbers. Only ids are that large. */
const LONG_NUMBERS_FROM = 1e15;

/**
 * Rows of the first visible sheet. A rounded number keeps its exponent, which the id parser refuses. Throws
 * `WorkbookFault`.
 */
export async function* xlsxRows(path: string, read: (share: number) => void): AsyncGenerator<SheetRow> {
  using archive = await XlsxArchive.open(path);
  const workbook = await readWorkbook(archive);
  const rows = new RowCollector(workbook);
  try {
    for await (const { share } of archive.parse(workbook.sheetPart, rows)) {
      read(share);
      yield* rows.drain();
    }
  } catch (error) {
    // The rows before the damage are whole.
    yield* rows.drain();
    throw error;
  }
  yield* rows.drain();
}

type Cell = { column: number; type: string; style: number; value: string; text: string };

class RowCollector {
  readonly #workbook: Workbook;
  #rows: SheetRow[] = [];
  #line = 0;
  #fields: string[] = [];
  #characters = 0;
  #cell: Cell | null = null;
  #inside: 'value' | 'text' | null = null;
  #phonetic = false;

  constructor(workbook: Workbook) {
    this.#workbook = workbook;
  }

  drain(): readonly SheetRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = (name: string, attribute: (name: string) => string | null): void => {
    if (name === 'row') {
      this.#line = Number(attribute('r') ?? this.#line + 1);
      this.#fields = [];
      this.#characters = 0;
    } else if (name === 'c') {
      const column = columnOf(attribute('r')) ?? this.#fields.length;
      if (column >= COLUMNS_MAX) throw new WorkbookFault(`has more than ${COLUMNS_MAX} columns`);
      this.#cell = {
        column,
        type: attribute('t') ?? 'n',
        style: Number(attribute('s') ?? 0),
        value: '',
        text: '',
      };
    } else if (name === 'rPh') {
      this.#phonetic = true;
    }
    this.#inside = name === 'v' ? 'value' : name === 't' && !this.#phonetic ? 'text' : null;
  };

  readonly text = (text: string): void => {
    if (this.#cell === null || this.#inside === null) return;
    this.#cell[this.#inside] += text;
    this.#characters += text.length;
    if (this.#characters > CSV_ROW_MAX_CHARACTERS)
      throw new WorkbookFault(`has more than ${CSV_ROW_MAX_CHARACTERS} characters in its row ${this.#line}`);
  };

  readonly close = (name: string): void => {
    this.#inside = null;
    if (name === 'rPh') this.#phonetic = false;
    if (name === 'c' && this.#cell !== null) {
      while (this.#fields.length < this.#cell.column) this.#fields.push('');
      this.#fields[this.#cell.column] = cellText(this.#cell, this.#workbook);
      this.#cell = null;
    } else if (name === 'row' && this.#fields.some((field) => field !== '')) {
      this.#rows.push({ line: this.#line, fields: this.#fields });
    }
  };
}

/** From 0: `AB12` is 27. `null` without a reference. */
const columnOf = (reference: string | null): number | null => {
  const letters = /^[A-Z]{1,3}(?=\d)/.exec(reference ?? '')?.[0];
  if (letters === undefined) return null;
  return Array.from(letters).reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
};

const cellText = ({ type, style, value, text }: Cell, workbook: Workbook): string => {
  if (type === 's') return workbook.sharedTexts[Number(value)] ?? '';
  if (type === 'inlineStr') return unescaped(text);
  if (type === 'str') return unescaped(value);
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type === 'e') return '';
  if (type === 'd' || value === '') return value;
  return workbook.dateStyles.has(style) ? dateText(Number(value), workbook.epochMs) : numberText(value);
};

const dateText = (days: number, epochMs: number): string => {
  const time = new Date(epochMs + Math.round(days * DAY_MS));
  if (Number.isNaN(time.getTime())) return String(days);
  const text = time.toISOString();
  // A sheet has no time zone: a date is read, but a time is refused where a zone is needed.
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19);
};

const numberText = (literal: string): string => {
  if (/^-?\d+$/.test(literal)) return literal;
  const number = Number(literal);
  return Math.abs(number) < LONG_NUMBERS_FROM ? String(number) : literal;
};
