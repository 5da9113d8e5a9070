import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ads } from '#projections/ads/project.ts';
import type { Change, ColumnValue, Row } from '#projections/define-projection.ts';
import { projectEvents } from '#application/read-models/project-events.ts';
import { type Group, groupChanges } from '#application/read-models/group-changes.ts';
import { eventsOfBrands } from '#tests/bench/projector/start-stop.ts';
import { runs } from '#tests/property-seed.ts';

type Table = Row[];

const statements = {
  // Multiply and add, so that their place among other changes shows.
  shift: { columns: { stream: 'text', by: 'bigint' }, touches: ['ad'], sql: '' },
  shift_one: {
    columns: { stream: 'text', id: 'text', by: 'bigint' },
    touches: ['ad'],
    rowsBy: { ad: ['stream', 'id'] },
    sql: '',
  },
} as const;

const has = (row: Row, key: Row): boolean =>
  Object.entries(key).every(([column, value]) => row[column] === value);
const EMPTY = { stream: null, id: null, scope: null, a: null, b: null, at: 0n } as const;
const numberOf = (value: ColumnValue | undefined): number | null =>
  typeof value === 'number' ? value : null;

const write = (table: Table, group: Group): Table => {
  const isNewer = (row: Row, input: Row): boolean =>
    !('precedence' in group) ||
    group.precedence === null ||
    (row[group.precedence] as bigint) < (input[group.precedence] as bigint);
  const pick = (row: Row, columns: readonly string[]): Row =>
    Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
  return group.rows.reduce<Table>((rows, input) => {
    switch (group.kind) {
      case 'insert':
        return [...rows, { ...EMPTY, ...input }];
      case 'upsert': {
        const key = pick(input, group.key);
        const set = pick(input, group.precedence === null ? group.set : [...group.set, group.precedence]);
        if (!rows.some((row) => has(row, key))) return [...rows, { ...EMPTY, ...input }];
        return rows.map((row) => (has(row, key) && isNewer(row, input) ? { ...row, ...set } : row));
      }
      case 'update': {
        const key = pick(input, group.key);
        const set = pick(input, group.set);
        return rows.map((row) => (has(row, key) && isNewer(row, input) ? { ...row, ...set } : row));
      }
      case 'increment': {
        const key = pick(input, group.key);
        if (!rows.some((row) => has(row, key))) return [...rows, { ...EMPTY, ...input }];
        const add = (row: Row, column: string): number | null => {
          const value = numberOf(row[column]);
          return value === null ? null : value + Number(input[column]);
        };
        return rows.map((row) =>
          has(row, key)
            ? { ...row, ...Object.fromEntries(group.by.map((column) => [column, add(row, column)])) }
            : row,
        );
      }
      case 'delete':
        return rows.filter((row) => !has(row, input));
      case 'run':
        return rows.map((row) => {
          const a = numberOf(row['a']);
          if (row['stream'] !== input['stream'] || row['id'] !== (input['id'] ?? row['id']) || a === null)
            return row;
          return { ...row, a: (a * 3 + Number(input['by'])) % 1_000_003 };
        });
    }
  }, table);
};

type Given = { readonly stream: string; readonly changes: readonly Change[] };
const inBatches = (events: readonly Given[], size: number): Table => {
  let table: Table = [];
  for (let from = 0; from < events.length; from += size) {
    for (const group of groupChanges({ statements }, events.slice(from, from + size)))
      table = write(table, group);
  }
  return table.toSorted((one, other) => ((one['id'] as string) < (other['id'] as string) ? -1 : 1));
};

const KINDS = [
  'insert',
  'whole',
  'part',
  'a',
  'b',
  'a and b',
  'move',
  'scope',
  'drop',
  'drop scope',
  'add',
  'shift',
  'shift one',
] as const;

type Picked = {
  readonly stream: number;
  readonly id: number;
  readonly scope: number;
  readonly n: number;
  readonly kind: (typeof KINDS)[number];
};
/** Changes of a few kinds. All kinds at once would seldom meet in a row without one that orders the whole table. */
const picks: fc.Arbitrary<readonly Picked[]> = fc
  .uniqueArray(fc.constantFrom(...KINDS), { minLength: 2, maxLength: 3 })
  .chain((kinds) =>
    fc.array(
      fc.record({
        stream: fc.integer({ min: 0, max: 1 }),
        id: fc.integer({ min: 0, max: 1 }),
        scope: fc.integer({ min: 0, max: 1 }),
        n: fc.integer({ min: 0, max: 9 }),
        kind: fc.constantFrom('whole' as const, ...kinds),
      }),
      { maxLength: 40 },
    ),
  );

/** Returns the change at a position. Streams have rows of their own; the rows of one stream share scopes. */
const changeOf = ({ stream, id, scope, n, kind }: Picked, index: number): Change => {
  const own = { stream: `s${stream}` };
  const key = { ...own, id: `${stream} ${id}` };
  const precedence = { column: 'at', position: BigInt(index + 1) };
  const table = 'ad';
  switch (kind) {
    case 'insert':
      return { kind, table, row: { ...own, id: `new ${index}`, scope: `c${scope}`, a: n, b: n, at: 0n } };
    case 'whole':
      return { kind: 'upsert', table, key, set: { scope: `c${scope}`, a: n, b: n }, precedence };
    case 'part':
      return { kind: 'upsert', table, key, set: { b: n } };
    case 'a':
    case 'b':
      return { kind: 'update', table, key, set: { [kind]: n }, precedence };
    case 'a and b':
      return { kind: 'update', table, key, set: { a: n, b: n }, precedence };
    case 'move':
      return { kind: 'update', table, key, set: { scope: `c${scope}` } };
    case 'scope':
      return { kind: 'update', table, key: { ...own, scope: `c${scope}` }, set: { b: n } };
    case 'drop':
      return { kind: 'delete', table, key };
    case 'drop scope':
      return { kind: 'delete', table, key: { ...own, scope: `c${scope}` } };
    case 'add':
      return { kind: 'increment', table, key, by: { a: n } };
    case 'shift':
      return { kind: 'run', statement: 'shift', row: { ...own, by: n } };
    case 'shift one':
      return { kind: 'run', statement: 'shift_one', row: { ...key, by: n } };
  }
};

describe('order of the changes of a batch', () => {
  test('gives the rows that the changes give one by one, in batches of any size', () => {
    fc.assert(
      fc.property(picks, fc.integer({ min: 2, max: 40 }), (given, size) => {
        const events = given.map((picked, index) => ({
          stream: `s${picked.stream}`,
          changes: [changeOf(picked, index)],
        }));
        expect(inBatches(events, size)).toEqual(inBatches(events, 1));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('refuses an update that sets a column of its key', () => {
    const change: Change = { kind: 'update', table: 'ad', key: { id: 'one' }, set: { id: 'two' } };
    expect(() => groupChanges({ statements }, [{ stream: 's', changes: [change] }])).toThrow(
      /sets id, a column of its key/,
    );
  });

  test('needs few groups for a brand whose ads start, stop and return in turn', () => {
    const events = eventsOfBrands('startStop', 1, 1_000);
    expect(projectEvents(ads, events).length).toBeLessThanOrEqual(
      projectEvents(ads, eventsOfBrands('ordinary', 1, 1_000)).length,
    );
  });

  test('makes an update part of the row that the batch upserts, unless another change comes between', () => {
    const key = { stream: 's', id: 'one' };
    const whole: Change = { kind: 'upsert', table: 'ad', key, set: { a: 1, b: 1 } };
    const update = (set: Row): Change => ({ kind: 'update', table: 'ad', key, set });
    const shift: Change = { kind: 'run', statement: 'shift_one', row: { ...key, by: 1 } };
    const kinds = (...changes: readonly Change[]) =>
      groupChanges({ statements }, [{ stream: 's', changes }]).map(({ kind, rows }) => [kind, rows]);
    expect(kinds(whole, update({ a: 2 }), update({ b: 3 }))).toEqual([['upsert', [{ ...key, a: 2, b: 3 }]]]);
    expect(kinds(whole, shift, update({ a: 2 })).map(([kind]) => kind)).toEqual(['upsert', 'run', 'update']);
    expect(kinds(whole, update({ scope: 'c' })).map(([kind]) => kind)).toEqual(['upsert', 'update']);
  });

  test('writes updates of different columns of a row together, and keeps the order of equal columns', () => {
    const update = (set: Row): Change => ({ kind: 'update', table: 'ad', key: { id: 'one' }, set });
    const groups = (...sets: readonly Row[]) =>
      groupChanges({ statements }, [{ stream: 's', changes: sets.map(update) }]).map(({ rows }) => rows);
    expect(groups({ a: 1 }, { b: 1 }, { a: 2 }, { b: 2 })).toEqual([
      [{ id: 'one', a: 2 }],
      [{ id: 'one', b: 2 }],
    ]);
    expect(groups({ a: 1 }, { a: 2, b: 2 }, { a: 3 })).toEqual([
      [{ id: 'one', a: 1 }],
      [{ id: 'one', a: 2, b: 2 }],
      [{ id: 'one', a: 3 }],
    ]);
  });
});
