import { describe, expect, test } from 'vitest';
import { cutPage, pageOfRows } from '#projections/sql/pages.ts';

type Row = { readonly at: string; readonly id: string; readonly item: string | null };

const row = (number: number): Row => ({ at: `t${number}`, id: `i${number}`, item: `{"n":${number}}` });
const cursorOf = (last: Row): string[] => [last.at, last.id];
const items = { toItem: ({ item }: Row) => item, cursorOf };

describe('pages of rows', () => {
  test('end the list when no further row was found', () => {
    expect(cutPage([row(1), row(2)], 2, cursorOf)).toEqual({ rows: [row(1), row(2)], next: null });
    expect(cutPage([], 2, cursorOf)).toEqual({ rows: [], next: null });
  });

  test('continue after the last row shown when a further row was found', () => {
    expect(cutPage([row(1), row(2), row(3)], 2, cursorOf)).toEqual({
      rows: [row(1), row(2)],
      next: ['t2', 'i2'],
    });
  });

  test('leave out rows without an item and still continue after the last of them', () => {
    const found = [row(1), { ...row(2), item: null }, row(3)];
    expect(pageOfRows(found, 2, items)).toEqual({ items: ['{"n":1}'], next: ['t2', 'i2'] });
  });
});
