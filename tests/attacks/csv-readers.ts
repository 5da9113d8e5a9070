import { parse } from 'csv-parse/sync';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Rows of a file. Each reader is independent, and throws when a file breaks its grammar. */

export type Rows = readonly (readonly string[])[];

/** Reads by RFC 4180 alone: CRLF ends a record, and a quote occurs only in a quoted field. */
export const readStrictly = (text: string): Rows => {
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
export const readLeniently = (text: string): Rows =>
  parse(text, { record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true });

/** Filter of LibreOffice: comma, quote, UTF-8, from line 1, every column as text. */
const UTF8_COMMA = '44,34,76,1';
const LIBREOFFICE_LIMIT_MS = 120_000;

/** Reads with LibreOffice; `null` where it is not installed. */
export const readWithLibreOffice = (text: string): Rows | null => {
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
