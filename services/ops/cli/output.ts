import type { Command } from 'commander';

type Value = string | number | boolean | null | readonly string[];
type Fields = Readonly<Record<string, Value>>;

export const isJson = (command: Command): boolean => Boolean(command.optsWithGlobals()['json']);

/**
 * What stands in names, errors and answers of receivers was written by others: a line break in it would break the
 * table, and an escape sequence would be obeyed by the terminal.
 */
export const onOneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ');

const asText = (value: Value): string => {
  if (value === null) return '-';
  return onOneLine(typeof value === 'object' ? value.join(', ') : String(value));
};

/** One record as `name  value` lines, or as JSON with `--json`. */
export const printRecord = (command: Command, record: Fields): void => {
  if (isJson(command)) return console.log(JSON.stringify(record));
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) console.log(`${name.padEnd(width)}  ${asText(value)}`);
};

/** Records as columns, or as a JSON array with `--json`. That there are none is said beside, for eyes alone. */
export const printTable = (
  command: Command,
  columns: readonly string[],
  records: readonly Fields[],
): void => {
  if (isJson(command)) return console.log(JSON.stringify(records));
  if (records.length === 0) console.error('none');
  const rows = [columns, ...records.map((record) => columns.map((column) => asText(record[column] ?? '')))];
  const widths = columns.map((_, place) => Math.max(...rows.map((row) => row[place]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, place) => cell.padEnd(widths[place] ?? 0))
        .join('  ')
        .trimEnd(),
    );
};
