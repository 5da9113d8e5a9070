import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HistoryEntry } from '#contracts/audit/entry.ts';
import { csvField, csvLines, textOfCsvField } from '#application/exports/csv-lines.ts';
import { entryOf, headerOf, lineOf } from '#services/ops/audit/write-export.ts';
import { attack, tries } from './attack.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Rows of a file. Each reader is independent, and throws when a file breaks its grammar. */

type Rows = readonly (readonly string[])[];

/** Reads by RFC 4180 alone: CRLF ends a record, and a quote occurs only in a quoted field. */
const readStrictly = (text: string): Rows => {
  const rows: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (field.lastIndex < text.length) {
    const from = field.lastIndex;
    const match = field.exec(text);
    if (!match)
      throw new Error(`no field of RFC 4180 at ${from}: ${JSON.stringify(text.slice(from, from + 60))}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
};

/** Reads as spreadsheets do: LF, CR and CRLF each end a row outside quotes. */
const readLeniently = (text: string): Rows =>
  parse(text, { record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true });

/** Filter of LibreOffice: comma, quote, UTF-8, from line 1, every column as text. */
const UTF8_COMMA = '44,34,76,1';
const LIBREOFFICE_LIMIT_MS = 120_000;

/** Reads with LibreOffice; `null` where it is not installed. */
const readWithLibreOffice = (text: string): Rows | null => {
  const folder = mkdtempSync(join(tmpdir(), 'csv-attack-'));
  try {
    writeFileSync(join(folder, 'in.csv'), text);
    const filter = `Text - txt - csv (StarCalc):${UTF8_COMMA}`;
    const words = ['--headless', `-env:UserInstallation=file://${folder}/profile`, `--infilter=${filter}`];
    const run = spawnSync(
      'soffice',
      [...words, '--convert-to', `csv:${filter}`, '--outdir', join(folder, 'out'), join(folder, 'in.csv')],
      { timeout: LIBREOFFICE_LIMIT_MS },
    );
    if (run.error !== undefined) {
      if ('code' in run.error && run.error.code === 'ENOENT') return null;
      throw run.error;
    }
    return parse(readFileSync(join(folder, 'out/in.csv'), 'utf8'), { bom: true, relax_column_count: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const BREAKS = ['\r', '\n', '\r\n', '\u0000', '\u2028', '\u2029', '\u0085', '\v', '\f'] as const;
const FORMULA_STARTS = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r'] as const;
const HIDDEN = [
  '',
  ' ',
  '\u00a0',
  '\u200b',
  '\ufeff',
  '\u0001',
  '\u202e',
  '\n',
  '  \u3000',
  '\u001b',
] as const;
/** Beginning of a formula, stated again, so that the test does not share a fault of the code. */
const RUNS = /^[\s\p{Cc}\u200b-\u200f\u202a-\u202e\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/u;
const COLUMNS = 3;

const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...BREAKS,
        ...FORMULA_STARTS,
        ...HIDDEN,
        '"',
        '""',
        ',',
        ';',
        "'",
        '1+1',
        'cmd|" /C calc"!A0',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join('').toWellFormed());
const hostileRow = fc.array(hostileText, { minLength: COLUMNS, maxLength: COLUMNS });

/** Texts that a reader may show: with or without an apostrophe, no lone CR, no NUL. */
const shownAs = (text: string): readonly string[] => {
  const shown = text.replaceAll(/\r(?!\n)/g, '\n').replaceAll('\u0000', '\uFFFD');
  return [shown, `'${shown}`];
};

attack('CSV fields that begin as formulas are defused, behind any white space', () => {
  let fields = 0;
  for (const hidden of HIDDEN) {
    for (const start of FORMULA_STARTS) {
      for (const before of ['', "'"]) {
        const text = `${before}${hidden}${start}HYPERLINK("http://elsewhere.example")`;
        const [[first = ''] = []] = readStrictly(csvLines([[text]], '\r\n'));
        expect(first, JSON.stringify(text)).not.toMatch(RUNS);
        if (start !== '\r') expect(textOfCsvField(csvField(text)), JSON.stringify(text)).toBe(text);
        fields += 1;
      }
    }
  }
  return `${fields} formulas, 0 run`;
});

attack('CSV fields with line breaks make no row, in a strict and a lenient reader', () => {
  let cells = 0;
  fc.assert(
    fc.property(fc.array(hostileRow, { minLength: 1, maxLength: 8 }), (rows) => {
      const text = csvLines([...rows, ['last', 'row', 'end']], '\r\n');
      const strict = readStrictly(text);
      expect(readLeniently(text)).toEqual(strict);
      expect(strict).toHaveLength(rows.length + 1);
      for (const [index, row] of rows.entries()) {
        expect(strict[index]).toHaveLength(COLUMNS);
        for (const [column, cell] of row.entries()) {
          expect(shownAs(cell)).toContain(strict[index]?.[column]);
          expect(strict[index]?.[column]).not.toMatch(RUNS);
          cells += 1;
        }
      }
    }),
    { numRuns: tries(300) },
  );
  return `${cells} cells read alike by two readers`;
});

const entryWith = (text: string): HistoryEntry => ({
  sequence: 1,
  recorded_at: '2026-11-20T06:00:00.000Z',
  type: 'BrandTracked',
  actor: { kind: 'member', id: text },
  resource: { category: 'tracking', id: text, revision: '0' },
  data: { note: text },
  request_id: text,
  correlation_id: text,
  causation_id: text,
  workspace_id: text,
  fact_id: text,
  position: '1',
  schema_version: 1,
  hash: '0'.repeat(64),
});

attack('CSV of audit exports is defused by the same code and read back unchanged', () => {
  let entries = 0;
  fc.assert(
    fc.property(hostileText, (text) => {
      const entry = entryWith(text.replaceAll(/[\p{Cc}]/gu, ' '));
      const line = lineOf('csv', entry);
      expect(entryOf('csv', line)).toEqual(entry);
      const lines = `${headerOf('csv')}\n${line}\n`;
      const [, fields = [], ...more] = parse(lines);
      expect(more).toEqual([]);
      for (const field of fields) expect(field).not.toMatch(RUNS);
      entries += 1;
    }),
    { numRuns: tries(100) },
  );
  return `${entries} entries read back`;
});

/** Characters that LibreOffice cannot hold, or writes back in another form. */
const NOT_HELD = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}]/gu;

const bare = (cells: Iterable<readonly string[]>): string[][] =>
  [...cells].map((row) => row.map((cell) => cell.replaceAll(NOT_HELD, '')));

test('CSV fields are the same cells in LibreOffice', { timeout: 240_000 }, ({ task, skip }) => {
  const rows = fc.sample(hostileRow, tries(20));
  const written = [...rows, ['last', 'row', 'end']];
  const shown = readWithLibreOffice(csvLines(written, '\r\n'));
  skip(shown === null, 'LibreOffice is not installed');
  expect(bare(shown ?? [])).toEqual(bare(written.map((row) => row.map(csvField))));
  task.meta.figure = `${written.length * COLUMNS} cells`;
});

test('CSV of audit exports has the same cells in LibreOffice', { timeout: 240_000 }, ({ task, skip }) => {
  // A hash of digits only would be shown as a number.
  const entries = fc
    .sample(hostileText, tries(10))
    .map((text) => ({ ...entryWith(text), hash: 'a'.repeat(64) }));
  const lines = [headerOf('csv'), ...entries.map((entry) => lineOf('csv', entry))];
  const text = lines.map((line) => `${line}\n`).join('');
  const shown = readWithLibreOffice(text);
  skip(shown === null, 'LibreOffice is not installed');
  const read = readLeniently(text);
  expect(read).toHaveLength(lines.length);
  expect(bare(shown ?? [])).toEqual(bare(read));
  task.meta.figure = `${read.flat().length} cells`;
});
