import { StringDecoder } from 'node:string_decoder';
import { type CsvPiece, CsvScanner } from './csv-scanner.ts';
import type { Source } from './open-source.ts';

const DELIMITERS = [',', ';', '\t'] as const;
const HEADER_MAX_BYTES = 64 * 1024;

export type CsvRow = { readonly [column: string]: string };
export type CsvItem =
  /** The first item: the column names and the verbatim header. */
  | { readonly kind: 'header'; readonly columns: readonly string[]; readonly raw: string }
  | { readonly kind: 'row'; readonly line: number; readonly raw: string; readonly row: CsvRow }
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };

/**
 * Yields the rows of a CSV source or of a spreadsheet as records of column names and texts. When the source is damaged, the last row may be
 * cut off, so it is yielded as broken. One row is therefore held back until the next one arrives.
 */
export async function* csvRows(source: Source): AsyncGenerator<CsvItem> {
  let columns: readonly string[] | null = null;
  let held: CsvItem | null = null;
  for await (const piece of pieces(source)) {
    if (columns === null && piece.kind === 'fields') {
      columns = piece.fields.map((name) => name.trim());
      yield { kind: 'header', columns, raw: piece.raw };
      continue;
    }
    if (held !== null) yield held;
    held = piece.kind === 'broken' ? piece : rowOf(columns ?? [], piece);
  }
  if (held === null) return;
  const isWhole = source.damage() === null || source.content.kind === 'spreadsheet';
  yield isWhole ? held : cutShort(held);
}

async function* pieces(source: Source): AsyncGenerator<CsvPiece> {
  if (source.content.kind === 'spreadsheet') {
    yield* sheetPieces(source);
    return;
  }
  const decoder = new StringDecoder('utf8');
  let scanner: CsvScanner | null = null;
  for await (const chunk of source.chunks()) {
    let text = decoder.write(chunk);
    if (scanner === null) {
      text = text.replace(/^\uFEFF/, '');
      scanner = new CsvScanner(delimiterOf(text));
    }
    yield* scanner.push(text);
  }
  if (scanner === null) return;
  yield* scanner.push(decoder.end());
  yield* scanner.end();
}

/** Yields the rows of a spreadsheet. A row without its last cells has blanks there, and cells beyond the header are a fault. */
async function* sheetPieces(source: Source): AsyncGenerator<CsvPiece> {
  let columns = 0;
  for await (const { line, fields } of source.rows()) {
    if (columns === 0) columns = fields.length;
    const blanks = Array.from({ length: Math.max(0, columns - fields.length) }, () => '');
    const row = [...fields, ...blanks];
    const raw = row.map(csvField).join(',');
    const isTooWide = row.slice(columns).some((field) => field !== '');
    if (isTooWide) {
      yield { kind: 'broken', line, raw, what: `has ${row.length} cells where the header has ${columns}` };
    } else {
      yield { kind: 'fields', line, raw, fields: row.slice(0, columns) };
    }
  }
}

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const rowOf = (columns: readonly string[], piece: CsvPiece & { kind: 'fields' }): CsvItem => {
  const row: { [column: string]: string } = {};
  // The first of several columns with the same name counts.
  columns.forEach((name, index) => {
    row[name] ??= piece.fields[index] ?? '';
  });
  return { kind: 'row', line: piece.line, raw: piece.raw, row };
};

const cutShort = (item: CsvItem): CsvItem =>
  item.kind === 'row'
    ? { kind: 'broken', line: item.line, raw: item.raw, what: 'is the last row before the file breaks off' }
    : item;

/** Returns the delimiter that occurs most often in the header line. */
const delimiterOf = (text: string): string => {
  const header = text.slice(0, HEADER_MAX_BYTES).split('\n', 1)[0] ?? '';
  const count = (delimiter: string): number => header.split(delimiter).length;
  return DELIMITERS.reduce<string>((best, next) => (count(next) > count(best) ? next : best), ',');
};
