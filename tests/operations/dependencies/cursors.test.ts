import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { createCursors } from '#operations/dependencies/cursors.ts';

const cursors = createCursors('a secret for tests only');
const sortKeys = fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 });

type Row = { readonly key: number; readonly id: number };
const newestFirst = (one: Row, other: Row): number => other.key - one.key || other.id - one.id;
const pageAfter = (rows: readonly Row[], after: readonly (string | number)[] | null, limit: number) => {
  const [key, id] = (after ?? []) as number[];
  const rest = rows
    .toSorted(newestFirst)
    .filter((row) => key === undefined || id === undefined || newestFirst({ key, id }, row) < 0);
  const last = rest[limit - 1];
  return { rows: rest.slice(0, limit), next: rest.length > limit && last ? [last.key, last.id] : null };
};

const uniqueRows = fc.uniqueArray(fc.record({ key: fc.integer({ min: 0, max: 5 }), id: fc.nat(10_000) }), {
  selector: (row) => row.id,
  maxLength: 60,
});

describe('cursors', () => {
  test('return the signed sort key unchanged', () => {
    fc.assert(
      fc.property(sortKeys, fc.string(), (sortKey, filters) => {
        expect(cursors.open(cursors.sign(filters, sortKey), filters)).toEqual(sortKey);
      }),
    );
  });

  test('are accepted with a name of the maximum length', () => {
    const sortKey = ['\u0001'.repeat(200), 'c1f2b6a0-52a7-5b7e-9c4b-1f0d5a7e3c11'];
    expect(cursors.open(cursors.sign('brands', sortKey), 'brands')).toEqual(sortKey);
  });

  test('neither skip nor repeat rows, also when rows are inserted between two pages', () => {
    fc.assert(
      fc.property(uniqueRows, uniqueRows, fc.integer({ min: 1, max: 7 }), (rows, others, limit) => {
        const late = others.map((row) => ({ ...row, id: row.id + 20_000 }));
        const present = [...rows];
        const seen: Row[] = [];
        let cursor: string | null = null;
        do {
          const after: readonly (string | number)[] | null = cursor ? cursors.open(cursor, 'f') : null;
          const page = pageAfter(present, after, limit);
          seen.push(...page.rows);
          cursor = page.next ? cursors.sign('f', page.next) : null;
          const inserted = late.pop();
          if (inserted) present.push(inserted);
        } while (cursor);
        expect(new Set(seen.map((row) => row.id)).size).toBe(seen.length);
        expect(seen.filter((row) => row.id < 20_000)).toEqual(rows.toSorted(newestFirst));
      }),
    );
  });

  test('are rejected with other filters', () => {
    fc.assert(
      fc.property(sortKeys, fc.string(), fc.string(), (sortKey, filters, others) => {
        fc.pre(filters !== others);
        expect(() => cursors.open(cursors.sign(filters, sortKey), others)).toThrow(Refusal);
      }),
    );
  });

  test('are rejected when any character is altered, removed or added', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=. ';
    fc.assert(
      fc.property(sortKeys, fc.nat(), fc.constantFrom(...letters.split('')), (sortKey, index, letter) => {
        const cursor = cursors.sign('f', sortKey);
        const at = index % cursor.length;
        const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
        fc.pre(altered !== cursor);
        expect(() => cursors.open(altered, 'f')).toThrow(Refusal);
        expect(() => cursors.open(cursor.slice(0, at), 'f')).toThrow(Refusal);
        expect(() => cursors.open(cursor + letter, 'f')).toThrow(Refusal);
      }),
    );
  });

  test('are rejected when signed with another secret', () => {
    const other = createCursors('another secret for tests');
    expect(() => cursors.open(other.sign('f', [1]), 'f')).toThrow(Refusal);
  });
});
