import type { Command } from 'commander';
import { type Fields, isJson, printRecord, printTable } from '#platform/command-line.ts';

export type Reply = {
  readonly data: unknown;
  readonly meta: { readonly as_of: string; readonly cursor?: string };
};

const CELL_MAX = 60;
/** Without a terminal every column is printed. */
const widthOfTerminal = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);

const cellOf = (value: unknown): Fields[string] => {
  if (typeof value !== 'object' || value === null) return (value ?? null) as Fields[string];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  return JSON.stringify(value);
};

/** Nested objects become `outer.inner`. */
const fieldsOf = (value: unknown, name = ''): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [name]: cellOf(value) };
  const parts = Object.entries(value).map(([inner, one]) =>
    fieldsOf(one, name === '' ? inner : `${name}.${inner}`),
  );
  return Object.assign({}, ...parts) as Fields;
};

const shortened = (row: Fields): Fields => {
  const short = (cell: Fields[string]): Fields[string] =>
    String(cell ?? '').length > CELL_MAX ? `${String(cell).slice(0, CELL_MAX - 1)}…` : cell;
  return Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, short(cell)]));
};

/** Columns in order. Left out are those without a value, and on a terminal those that no longer fit. */
const columnsOf = (rows: readonly Fields[]): readonly string[] => {
  const width = widthOfTerminal();
  let used = 0;
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => {
    const lengths = rows.map((row) => String(row[name] ?? '').length);
    const wide = Math.max(name.length, ...lengths);
    if (lengths.every((one) => one === 0) || (used > 0 && used + wide > width)) return false;
    used += wide + 2;
    return true;
  });
};

/** With `--json` a line of JSON, otherwise a table or a record, with its `as_of` on standard error. */
export const printReply = (command: Command, reply: Reply): void => {
  if (isJson(command)) return console.log(JSON.stringify(reply));
  if (Array.isArray(reply.data)) {
    const rows = reply.data.map((one) => shortened(fieldsOf(one)));
    const { columns } = command.optsWithGlobals<{ columns?: string }>();
    printTable(command, columns?.split(',') ?? columnsOf(rows), rows);
  } else printRecord(command, fieldsOf(reply.data));
  console.error(`as of ${reply.meta.as_of}`);
};
