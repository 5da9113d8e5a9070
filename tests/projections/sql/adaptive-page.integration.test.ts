import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readAdaptivePage } from '#projections/sql/pages.ts';
import { raw, sql } from '#projections/sql/sql-tag.ts';
import { type FilledTables, openFilledTables } from '#tests/dsl/seeded-tables.ts';

/** More rows than the longest scan reads. */
const ROWS = 12_000;
type Item = { readonly key: string; readonly id: number };

let tables: FilledTables;
let db: ReadDatabase;

beforeAll(async () => {
  tables = await openFilledTables([], async (pool) => {
    // Three rows share each rank. Values are common, rare, only at the end of the order, or absent.
    await pool.query(`
    create table place as select n as id, n / 3 as rank from generate_series(0, ${ROWS - 1}) n;
    create table value as select n as id, n % 2 = 0 as common, n % 100 = 7 as uncommon, n % 2400 = 5 as rare,
      n < 2000 as at_end, false as never from generate_series(0, ${ROWS - 1}) n;
    alter table value add primary key (id);
    create index on place (rank desc, id desc)`);
  });
  ({ db } = tables);
});
afterAll(() => tables[Symbol.asyncDispose]());

const LIST = {
  scan: {
    columns: sql.fragment`s.id, s.rank as place`,
    from: sql.fragment`place s`,
    order: sql.fragment`s.rank desc, s.id desc`,
  },
  filterTable: { from: sql.fragment`value v`, key: sql.fragment`id` },
  show: { columns: sql.fragment`s.id, s.place::text as key`, joins: sql.fragment`join value v using (id)` },
  order: sql.fragment`s.place desc, s.id desc`,
};

const read = (conditions: readonly string[], limit: number, after: readonly number[] | null) => {
  const where = sql.and([after && sql.fragment`(s.rank, s.id) < (${sql.list(after)})`]);
  return readAdaptivePage<Item>(db, LIST, { where, conditions: conditions.map(raw) }, { limit, after: null });
};

const everyPage = async (conditions: readonly string[], limit: number): Promise<readonly number[]> => {
  const ids: number[] = [];
  for (let after: readonly number[] | null = null; ; ) {
    const rows: readonly Item[] = await read(conditions, limit, after);
    ids.push(...rows.slice(0, limit).map(({ id }) => id));
    const last = rows[limit - 1];
    if (rows.length <= limit || last === undefined) return ids;
    after = [Number(last.key), last.id];
  }
};

const fitting = (fits: (id: number) => boolean): readonly number[] =>
  Array.from({ length: ROWS }, (_, n) => ROWS - 1 - n).filter(fits);

describe('an adaptive page', () => {
  test.each([
    ['no condition', [], 1_000, () => true],
    ['a common value', ['v.common'], 500, (id: number) => id % 2 === 0],
    ['an uncommon value', ['v.uncommon'], 20, (id: number) => id % 100 === 7],
    ['a rare value', ['v.rare'], 2, (id: number) => id % 2400 === 5],
    ['a value at the end of the order', ['v.at_end'], 400, (id: number) => id < 2000],
    ['two values', ['v.at_end', 'v.uncommon'], 3, (id: number) => id < 2000 && id % 100 === 7],
    ['an absent value', ['v.never'], 20, () => false],
  ])('filtered by %s equals a plain query over all pages', async (_case, conditions, limit, fits) => {
    expect(await everyPage(conditions, limit)).toEqual(fitting(fits));
  });
});
