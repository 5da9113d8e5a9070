import { afterAll, beforeAll, expect, test } from 'vitest';
import { countTargets } from '#application/collecting/target-states.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const NOW = new Date('2026-05-10T12:00:00Z');
const hours = (count: number): Date => new Date(NOW.getTime() + count * 3_600_000);

type Row = Readonly<Record<string, string | Date | null>>;
const READ: Row = { cadence: 'daily', wished_at: hours(-20), due_at: hours(23), outcome: 'complete' };

let database: Database;
let drop: () => Promise<unknown>;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = () => created.drop();
  database = openPool(created.url, 2);
});
afterAll(async () => {
  await database.end();
  await drop();
});

const count = async (rows: readonly Row[]) => {
  await database.query('truncate collecting.target');
  for (const [index, row] of rows.entries()) {
    const target: Row = { source: 'storefront', domain: `shop-${index}.example`, ...READ, ...row };
    const names = Object.keys(target);
    await database.query(
      `insert into collecting.target (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`,
      Object.values(target),
    );
  }
  return countTargets(database, NOW);
};
const NONE = { source: 'storefront', due: 0, in_flight: 0, overdue: 0, refused: 0, shut: 0, paused: 0 };

test('no source is counted before a collector has created its tables', async () => {
  expect(await countTargets(database, NOW)).toEqual([]);
  await createCollectorTables(database);
  expect(await countTargets(database, NOW)).toEqual([]);
});

test.each<readonly [string, Row, object]>([
  ['a target that was read', {}, {}],
  ['a due target', { due_at: hours(-1) }, { due: 1 }],
  ['a due target that failed', { due_at: hours(-1), retry_at: hours(1) }, {}],
  ['a target that is being read', { due_at: hours(-1), lease_until: hours(0.01) }, { in_flight: 1 }],
  ['a target whose reader was killed', { due_at: hours(-1), lease_until: hours(-0.01) }, { due: 1 }],
  ['a daily target, 12 hours late', { due_at: hours(-12) }, { due: 1 }],
  ['a daily target, 13 hours late', { due_at: hours(-13) }, { due: 1, overdue: 1 }],
  ['a weekly target, 23 hours late', { cadence: 'weekly', due_at: hours(-23) }, { due: 1 }],
  ['a weekly target, 25 hours late', { cadence: 'weekly', due_at: hours(-25) }, { due: 1, overdue: 1 }],
  ['a late target that nobody wishes', { wished_at: hours(-15 * 24), due_at: hours(-99) }, { due: 1 }],
  ['a late target that is paused', { paused: 'by an operator', due_at: hours(-99) }, { paused: 1 }],
  ['a shop that refuses', { outcome: 'refused' }, { refused: 1 }],
  ['a shop whose robots.txt forbids', { outcome: 'forbidden' }, { refused: 1 }],
  ['a shop with a password', { outcome: 'closed' }, { shut: 1 }],
])('%s has its states', async (_name, row, states) => {
  expect(await count([row])).toEqual([{ ...NONE, targets: 1, ...states }]);
});

test('sources are counted apart', async () => {
  const counted = await count([{ due_at: hours(-1) }, {}, { source: 'ads_archive', outcome: 'refused' }]);
  expect(counted).toEqual([
    { ...NONE, source: 'ads_archive', targets: 1, refused: 1 },
    { ...NONE, targets: 2, due: 1 },
  ]);
});
