import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FILLS } from './fills.ts';

const tablesOf = (schema: string): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    [...schema.matchAll(/create table (\w+) \(\n([\s\S]*?)\n\)/g)].map(([, table = '', lines = '']) => [
      table,
      new Set([...lines.matchAll(/^ {2}(\w+) /gm)].map(([, column = '']) => column)),
    ]),
  );

const insertsOf = (sql: string): readonly (readonly [table: string, columns: readonly string[]])[] =>
  [...sql.matchAll(/insert into (\w+)(?: as \w+)? \(([^()]+)\)/g)].map(([, table = '', columns = '']) => [
    table,
    columns.split(',').map((column) => column.trim()),
  ]);

describe('fills of the big corpus', () => {
  it.each(FILLS.map((fill) => ({ ...fill, name: fill.projection.name })))(
    'of $name insert into columns of its schema',
    ({ projection, sql }) => {
      const tables = tablesOf(readFileSync(projection.schema, 'utf8'));
      const unknown = sql
        .flatMap(insertsOf)
        .flatMap(([table, columns]) =>
          columns.filter((column) => !tables.get(table)?.has(column)).map((column) => `${table}.${column}`),
        );
      expect(unknown).toEqual([]);
    },
  );

  it('fill at least one table of each projection', () => {
    expect(FILLS.filter(({ sql }) => sql.flatMap(insertsOf).length === 0)).toEqual([]);
  });
});
