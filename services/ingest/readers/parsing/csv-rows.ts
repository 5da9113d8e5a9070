import { StringDecoder } from 'node:string_decoder';
import { type CsvPiece, CsvScanner } from './csv-scanner.ts';
import type { Source } from './open-source.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Tells spreadsheets the delimiter. A program that saves it again may fill it with delimiters. */
const DELIMITER_LINE = /^"?sep=(\\t|[^\r\n])"?[,;\t|]*\r?\n\uFEFF?/i;
const HEADER_MAX_BYTES = 64 * 1024;

export type CsvRow = { readonly [column: string]: string };
export type CsvItem =
  | { readonly kind: 'header'; readonly columns: readonly string[]; readonly raw: string }
  | { readonly kind: 'row'; readonly line: number; readonly raw: string; readonly row: CsvRow }
  | { readonly kind: 'broken'; readonly line: number; readonly raw: string; readonly what: string };

/**
 * Damage can cut off the last row, so a row is held back until the next arrives, and the last one is yielded as broken.
 */
export async function* csvRows(source: Source): AsyncGenerator<CsvItem> {
  let columns: readonly string[] | null = null;
  let repeated: readonly string[] = [];
  let held: CsvItem | null = null;
  for await (const piece of pieces(source)) {
    if (columns === null && piece.kind === 'fields') {
      columns = piece.fields.map((name) => name.trim());
      if (columns.some((name) => /\r(?!\n)/.test(name))) {
        const [raw = ''] = piece.raw.split('\r', 1);
        yield {
          kind: 'broken',
          line: piece.line,
          raw,
          what: 'ends with CR alone, and lines end with LF or CR LF',
        };
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
  let first = '';
  for await (const chunk of source.chunks()) {
    let text = decoder.write(chunk);
    if (scanner === null) {
      text = text.replace(/^\uFEFF/, '');
      const [line = '', named = ''] = DELIMITER_LINE.exec(text) ?? [];
      text = text.slice(line.length);
      first = line.trim();
      scanner = new CsvScanner(delimiterOf(text, named.replace('\\t', '\t')), first === '' ? 1 : 2);
    }
    const [header, ...rows] = scanner.push(text);
    if (header === undefined) continue;
    // A rejects file needs the line too.
    yield first === '' ? header : { ...header, raw: `${first}\n${header.raw}` };
    first = '';
    yield* rows;
  }
  if (scanner === null) return;
  yield* scanner.push(decoder.end());
  yield* scanner.end();
}

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

const rowOf = (
  columns: readonly string[],
  repeated: readonly string[],
  { line, raw, fields }: CsvPiece & { kind: 'fields' },
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

const cutShort = (item: CsvItem): CsvItem =>
  item.kind === 'row'
    ? { kind: 'broken', line: item.line, raw: item.raw, what: 'is the last row before the file breaks off' }
    : item;

const delimiterOf = (text: string, named: string): string => {
  const header = text.slice(0, HEADER_MAX_BYTES).split('\n', 1)[0] ?? '';
  if (named !== '' && header.includes(named)) return named;
  const count = (delimiter: string): number => header.split(delimiter).length;
  return DELIMITERS.reduce<string>((best, next) => (count(next) > count(best) ? next : best), ',');
};
