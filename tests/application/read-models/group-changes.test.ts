import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '#projections/define-projection.ts';
import { type Group, groupChanges } from '#application/read-models/group-changes.ts';

const columns = { id: 'text', n: 'bigint' } as const;
const statements = {
  begin: { columns, touches: ['ad'], sql: '' },
  end: { columns, touches: ['ad', 'scan'], sql: '' },
  count: { columns, touches: ['scan'], sql: '' },
} as const;
const NAMES = ['begin', 'end', 'count'] as const;
type Name = (typeof NAMES)[number];

const run = (statement: Name, id: string, n: number): Change => ({ kind: 'run', statement, row: { id, n } });
const plan = (events: readonly (readonly [stream: string, changes: readonly Change[]])[]): readonly Group[] =>
  groupChanges(
    { statements },
    events.map(([stream, changes]) => ({ stream, changes })),
  );

const written = (groups: readonly Group[]): readonly { name: Name; id: string; n: number }[] =>
  groups.flatMap((group) =>
    group.kind === 'run'
      ? group.rows.map(({ id, n }) => ({ name: group.statement as Name, id: id as string, n: n as number }))
      : [],
  );

describe('grouping of changes', () => {
  test('shares groups between many streams with alternating changes', () => {
    const STREAMS = 100;
    const events = Array.from({ length: 3 * STREAMS }, (_, n) => {
      const id = `brand-${n % STREAMS}`;
      return [id, [run('begin', id, n), run('end', id, n)]] as const;
    });
    expect(plan(events)).toHaveLength(6);
    const inTurns = Array.from({ length: STREAMS }, (_, n) => [
      [`brand-${n}`, [run('begin', `brand-${n}`, 0), run('end', `brand-${n}`, 1)]] as const,
      [`brand-${n}`, [run('begin', `brand-${n}`, 2)]] as const,
    ]).flat();
    expect(plan(inTurns)).toHaveLength(3);
  });

  test('writes the change of the highest position to a row, in any order of the streams', () => {
    const change = (position: bigint): Change => ({
      kind: 'upsert',
      table: 'ad',
      key: { id: 'one' },
      set: { n: Number(position) },
      precedence: { column: 'at', position },
    });
    const rows = (positions: readonly bigint[]) =>
      plan(positions.map((position) => [`stream-${position}`, [change(position)]] as const)).flatMap(
        (group) => group.rows,
      );
    for (const order of [
      [1n, 2n, 3n],
      [3n, 2n, 1n],
      [2n, 3n, 1n],
    ]) {
      expect(rows(order)).toEqual([{ id: 'one', n: 3, at: 3n }]);
    }
  });

  test('refreshes each row once, in the order of first changes, and what runs last after all others', () => {
    const refresh = (statement: string, id: string): Change => ({ kind: 'refresh', statement, row: { id } });
    const groups = groupChanges(
      { statements: { ...statements, end: { ...statements.end, runsLast: true } } },
      [
        { stream: 'a', changes: [refresh('end', 'a'), refresh('count', 'a')] },
        { stream: 'b', changes: [refresh('begin', 'b'), refresh('count', 'a'), refresh('end', 'b')] },
      ],
    );
    expect(groups).toEqual([
      { kind: 'run', statement: 'count', rows: [{ id: 'a' }] },
      { kind: 'run', statement: 'begin', rows: [{ id: 'b' }] },
      { kind: 'run', statement: 'end', rows: [{ id: 'a' }, { id: 'b' }] },
    ]);
  });

  test('keeps every change, and the order per stream and table', () => {
    const change = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom(...NAMES));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (given) => {
        const events = given.map(
          ([stream, name], n) => [`s${stream}`, [run(name, `s${stream}`, n)]] as const,
        );
        const rows = written(plan(events));
        expect(rows.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(given.map((_, n) => n));
        for (const table of ['ad', 'scan']) {
          const order = rows.filter(({ name }) =>
            (statements[name].touches as readonly string[]).includes(table),
          );
          for (const ofStream of Map.groupBy(order, ({ id }) => id).values()) {
            const places = ofStream.map(({ n }) => n);
            expect(places).toEqual(places.toSorted((a, b) => a - b));
          }
        }
      }),
    );
  });
});
