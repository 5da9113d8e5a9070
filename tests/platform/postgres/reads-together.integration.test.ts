import { expect, onTestFinished, test, vi } from 'vitest';
import { openPool } from '#platform/postgres/pool.ts';
import { readsTogether } from '#platform/postgres/reads-together.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const openDatabase = async () => {
  const own = await createTestDatabase();
  const pool = openPool(own.url, 1);
  onTestFinished(async () => {
    await pool.end();
    await own.drop();
  });
  return { pool, sent: vi.spyOn(pool, 'query') };
};

test('reads that are asked for at once are one statement, each with its own values and rows in order', async () => {
  const { pool, sent } = await openDatabase();
  const reads = readsTogether(pool);

  const [numbers, words, none, some] = await Promise.all([
    reads.query({
      name: 'numbers',
      text: 'select n from generate_series(1, $1::int) n order by n desc',
      values: [3],
    }),
    reads.query('with w as (select $2::text[] as words) select words, $1::text as first from w -- all', [
      'a',
      ['b', '"'],
    ]),
    reads.query('select 1 as one where false'),
    reads.query('select where true'),
  ]);

  expect(numbers.rows).toEqual([{ n: 3 }, { n: 2 }, { n: 1 }]);
  expect(words.rows).toEqual([{ words: ['b', '"'], first: 'a' }]);
  expect(none.rows).toEqual([]);
  expect(some.rows).toHaveLength(1);
  expect(sent).toHaveBeenCalledTimes(1);
});

test('a read that depends on another is a later statement of the same view', async () => {
  const { pool, sent } = await openDatabase();
  const reads = readsTogether(pool);

  const { rows } = await reads.query<{ n: number }>('select 2 as n');
  const next = await reads.query('select $1::int + 1 as n', [rows[0]?.n]);

  expect(next.rows).toEqual([{ n: 3 }]);
  expect(sent).toHaveBeenCalledTimes(2);
});

test('a read that fails fails those that were sent with it, and none after', async () => {
  const { pool } = await openDatabase();
  const reads = readsTogether(pool);

  const outcomes = await Promise.allSettled([reads.query('select 1 / 0 as n'), reads.query('select 1 as n')]);

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await reads.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
});
