import type { Command } from 'commander';
import { terminalLine } from '#platform/process/terminal-output.ts';

type Value = string | number | boolean | null | readonly string[];
type Fields = Readonly<Record<string, Value>>;

export const isJson = (command: Command): boolean => Boolean(command.optsWithGlobals()['json']);

/** Commands print lines of third parties through it. */
export const onOneLine = terminalLine;

const asText = (value: Value): string => {
  if (value === null) return '-';
  return onOneLine(typeof value === 'object' ? value.join(', ') : String(value));
};

export const printRecord = (command: Command, record: Fields): void => {
  if (isJson(command)) return console.log(JSON.stringify(record));
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) console.log(`${name.padEnd(width)}  ${asText(value)}`);
};

/** Reports an empty list on standard error only, so that the output stays parseable. */
export const printTable = (
  command: Command,
  columns: readonly string[],
  records: readonly Fields[],
): void => {
  if (isJson(command)) return console.log(JSON.stringify(records));
  if (records.length === 0) console.error('none');
  const rows = [columns, ...records.map((record) => columns.map((column) => asText(record[column] ?? '')))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
};
