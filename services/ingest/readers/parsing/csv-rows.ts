import { StringDecoder } from 'node:string_decoder';
import { type CsvPiece, CsvScanner } from './csv-scanner.ts';
import type { Source } from './open-source.ts';

const DELIMITERS = [',', ';', '\t'] as const;
const HEADER_MAX_BYTES = 64 * 1024;

export type CsvRow = { readonly [column: string]: string };
export type CsvItem =
  /** First: the names of the columns, and the header's text as it stood. */
  | { readonly kind: 'header'; readonly columns: readonly string[]; readonly raw: string }
  | { readonly kind: 'row'; readonly line: number; readonly raw: string; readonly row: CsvRow }
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };

/**
 * The rows of a CSV source, as a record of column names and texts. When the source ends by damage its
 * last row may be half a row, and is given as broken.
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
  // Of two columns with one name the first counts.
  columns.forEach((name, at) => {
    row[name] ??= piece.fields[at] ?? '';
  });
  return { kind: 'row', line: piece.line, raw: piece.raw, row };
};

const cutShort = (item: CsvItem): CsvItem =>
  item.kind === 'row'
    ? { kind: 'broken', line: item.line, raw: item.raw, what: 'is the last row before the file breaks off' }
    : item;

/** The delimiter that the header line holds most of. */
const delimiterOf = (text: string): string => {
  const header = text.slice(0, HEADER_MAX_BYTES).split('\n', 1)[0] ?? '';
  const count = (delimiter: string): number => header.split(delimiter).length;
  return DELIMITERS.reduce<string>((best, next) => (count(next) > count(best) ? next : best), ',');
};
