import type { Command } from 'commander';
import { type Fields, isJson, printRecord, printTable } from '#platform/command-line.ts';

export type Reply = {
  readonly data: unknown;
  readonly meta: { readonly as_of: string; readonly cursor?: string };
};

const CELL_MAX = 60;
/** Without a terminal every column is printed. */
const widthOfTerminal = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);

type Cell = Fields[string];
type ListFields = (list: readonly unknown[], name: string) => Fields;

const countOf = (list: readonly unknown[]): string => `${list.length} item${list.length === 1 ? '' : 's'}`;
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Nested objects become `outer.inner`. `ofRecords`: fields of a list of objects. */
const fieldsOf = (value: unknown, ofRecords: ListFields, name = ''): Fields => {
  if (!isObject(value)) return { [name]: (value ?? null) as Cell };
  if (Array.isArray(value))
    return value.some(isObject) ? ofRecords(value, name) : { [name]: value.map(String) };
  const parts = Object.entries(value).map(([inner, one]) =>
    fieldsOf(one, ofRecords, name === '' ? inner : `${name}.${inner}`),
  );
  return Object.assign({}, ...parts) as Fields;
};

const numberOfItems: ListFields = (list, name) => ({ [name]: countOf(list) });

const lineOf = (item: unknown): string =>
  Object.entries(fieldsOf(item, numberOfItems))
    .map(([name, cell]) => `${name}: ${Array.isArray(cell) ? cell.join(' ') : String(cell ?? '-')}`)
    .join(', ');
const lineForEach: ListFields = (list, name) =>
  Object.fromEntries(list.map((item, index) => [`${name}.${index}`, lineOf(item)]));

const shortened = (row: Fields): Fields => {
  const short = (cell: Cell): Cell => {
    if (String(cell ?? '').length <= CELL_MAX) return cell;
    return Array.isArray(cell) ? countOf(cell) : `${String(cell).slice(0, CELL_MAX - 1)}…`;
  };
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
    const rows = reply.data.map((one) => shortened(fieldsOf(one, numberOfItems)));
    const { columns } = command.optsWithGlobals<{ columns?: string }>();
    printTable(command, columns?.split(',') ?? columnsOf(rows), rows);
  } else printRecord(command, fieldsOf(reply.data, lineForEach));
  console.error(`as of ${reply.meta.as_of}`);
};
