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
 * Yields the rows of a CSV source as records of column names and texts. When the source is damaged, the last row may be
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
  if (held !== null) yield source.damage() === null ? held : cutShort(held);
}

async function* pieces(source: Source): AsyncGenerator<CsvPiece> {
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
