import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type { Transaction } from '#platform/postgres/pool.ts';
import type { ColumnValue, Projection, Row } from '#projections/define-projection.ts';
import { encoding } from './failures.ts';
import type { Group } from './group-changes.ts';
import type { Catalog } from './schema.ts';

/** Below this many rows an insert from arrays is faster than COPY. */
const COPY_FROM_ROWS = 200;
/** From this many rows on, a temporary table that COPY fills is cheaper to read than arrays of texts. */
const STAGE_FROM_ROWS = 1_000;
const COPY_BUFFER_CHARACTERS = 256 * 1024;

const formatArray = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${String(value).replace(/["\\]/g, '\\$&')}"`)).join()}}`;

/** The column's type decides whether an array is a Postgres array or JSON. */
const formatValue = (value: ColumnValue | undefined, type: string): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') {
    return Array.isArray(value) && type.endsWith('[]') ? formatArray(value) : JSON.stringify(value);
  }
  return String(value);
};

const typeOf = (catalog: Catalog, table: string, column: string): string => {
  const type = catalog.get(table)?.get(column);
  if (type === undefined) throw new Error(`column ${table}.${column} not found in the read model`);
  return type;
};

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join();

const matching = (key: readonly string[]): string =>
  key.map((column) => `t."${column}" = i."${column}"`).join(' and ');

type Columns = readonly (readonly [name: string, type: string])[];

const inputRows = (columns: Columns, rows: readonly Row[]) => ({
  sql: `(select ${columns.map(([name, type], index) => `u.c${index}::${type} as "${name}"`).join()} from unnest(${columns
    .map((_, index) => `$${index + 1}::text[]`)
    .join()}) as u(${columns.map((_, index) => `c${index}`).join()}))`,
  values: columns.map(([name, type]) => rows.map((row) => formatValue(row[name], type))),
});

const escapeCopy = (text: string): string =>
  /[\\\t\n\r]/.test(text)
    ? text.replace(/[\\\t\n\r]/g, (character) =>
        character === '\\' ? '\\\\' : character === '\t' ? '\\t' : character === '\n' ? '\\n' : '\\r',
      )
    : text;

const copyLine = (row: Row, columns: readonly string[], types: readonly string[]): string => {
  let line = '';
  for (let index = 0; index < columns.length; index += 1) {
    const text = formatValue(row[columns[index] as string], types[index] as string);
    line += `${index === 0 ? '' : '\t'}${text === null ? '\\N' : escapeCopy(text)}`;
  }
  return `${line}\n`;
};

const copyRows = async (
  client: Transaction,
  table: string,
  columns: Columns,
  rows: readonly Row[],
): Promise<void> => {
  const names = columns.map(([name]) => name);
  const types = columns.map(([, type]) => type);
  const stream = client.query(copyFrom(`copy "${table}" (${quoted(names)}) from stdin`));
  const done = finished(stream);
  // The failure is thrown at `await done`; this handler prevents an unhandled rejection.
  done.catch(() => undefined);
  let buffer = '';
  for (const row of rows) {
    buffer += encoding(() => copyLine(row, names, types));
    if (buffer.length >= COPY_BUFFER_CHARACTERS) {
      if (!stream.write(buffer)) await Promise.race([once(stream, 'drain'), done]);
      buffer = '';
    }
  }
  stream.end(buffer);
  await done;
};

let staged = 0;

/** The table is dropped with the transaction. */
const stageRows = async (client: Transaction, columns: Columns, rows: readonly Row[]): Promise<string> => {
  staged += 1;
  const table = `staged_${staged}`;
  const definitions = columns.map(([name, type]) => `"${name}" ${type}`).join();
  await client.query(`create temporary table ${table} (${definitions}) on commit drop`);
  await copyRows(client, table, columns, rows);
  return `(select * from pg_temp.${table})`;
};

/** COPY streams its rows, so it cannot be part of a pipeline. */
export const isCopyGroup = (group: Group): boolean =>
  group.kind === 'insert' && group.rows.length >= COPY_FROM_ROWS;

type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** The search path must select the schema. Throws `UnwritableChanges` for rows that do not fit the tables. */
export const statementOf = (
  projection: Pick<Projection, 'statements'>,
  catalog: Catalog,
  group: Group,
): Statement =>
  encoding(() => {
    const columns = columnsOf(projection, catalog, group);
    const { sql, values } = inputRows(columns, group.rows);
    return { text: textOf(projection, group, columns, sql), values };
  });

const columnsOf = (
  { statements }: Pick<Projection, 'statements'>,
  catalog: Catalog,
  group: Group,
): Columns => {
  if (group.kind !== 'run') {
    return Object.keys(group.rows[0] ?? {}).map((name) => [name, typeOf(catalog, group.table, name)]);
  }
  const statement = statements[group.statement];
  if (!statement) throw new Error(`statement ${group.statement} not found in the projection`);
  return Object.entries(statement.columns);
};

/** `input` is SQL that gives the rows of the group. */
const textOf = (
  { statements }: Pick<Projection, 'statements'>,
  group: Group,
  columns: Columns,
  input: string,
): string =>
  group.kind === 'run'
    ? (statements[group.statement]?.sql ?? '').replaceAll(':input', () => input)
    : groupSql(
        group,
        columns.map(([name]) => name),
        input,
      );

const groupSql = (
  group: Exclude<Group, { readonly kind: 'run' }>,
  columns: readonly string[],
  input: string,
): string => {
  const { table } = group;
  const insert = `insert into "${table}" as t (${quoted(columns)}) select ${quoted(columns)} from ${input} i`;
  switch (group.kind) {
    case 'insert':
      return insert;
    case 'upsert': {
      const { key, precedence } = group;
      const set = precedence === null ? group.set : [...group.set, precedence];
      const isNewer = precedence === null ? '' : ` where t."${precedence}" < excluded."${precedence}"`;
      return `${insert} on conflict (${quoted(key)}) do ${
        set.length === 0
          ? 'nothing'
          : `update set ${set.map((column) => `"${column}" = excluded."${column}"`).join()}${isNewer}`
      }`;
    }
    case 'update': {
      const { key, set, precedence } = group;
      const isNewer = precedence === null ? '' : ` and t."${precedence}" < i."${precedence}"`;
      return `update "${table}" t set ${set.map((column) => `"${column}" = i."${column}"`).join()}
         from ${input} i where ${matching(key)}${isNewer}`;
    }
    case 'increment':
      return `${insert} on conflict (${quoted(group.key)}) do update set ${group.by
        .map((column) => `"${column}" = t."${column}" + excluded."${column}"`)
        .join()}`;
    case 'delete':
      return `delete from "${table}" t using ${input} i where ${matching(group.key)}`;
  }
};

export const writeGroup = async (
  client: Transaction,
  projection: Pick<Projection, 'statements'>,
  catalog: Catalog,
  group: Group,
): Promise<void> => {
  if (group.rows.length === 0) return;
  if (group.kind === 'insert' && isCopyGroup(group)) {
    const columns = encoding(() => columnsOf(projection, catalog, group));
    await copyRows(client, group.table, columns, group.rows);
  } else if (group.rows.length >= STAGE_FROM_ROWS) {
    const columns = encoding(() => columnsOf(projection, catalog, group));
    const input = await stageRows(client, columns, group.rows);
    await client.query(textOf(projection, group, columns, input));
  } else {
    const { text, values } = statementOf(projection, catalog, group);
    await client.query(text, values as unknown[]);
  }
};
