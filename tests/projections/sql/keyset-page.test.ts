import { describe, expect, test } from 'vitest';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { BEFORE_NEWEST, cutPage, keysetPage, pageOfRows } from '#projections/sql/keyset-page.ts';

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

describe('keysetPage', () => {
  const read = async (after: readonly string[] | null) => {
    const queries: ReadQuery[] = [];
    const query: ReadDatabase['query'] = (one) => {
      queries.push(one);
      return Promise.resolve([row(1), row(2)] as never);
    };
    const list = { sql: 'select', values: ['w'], start: BEFORE_NEWEST, filters: ['f'], ...items };
    const page = await keysetPage<Row>({ query, slow: query }, list, { limit: 1, after });
    return { queries, page };
  };

  test('begins at the start cursor and reads one row more than the page', async () => {
    const { queries, page } = await read(null);
    expect(queries).toEqual([{ sql: 'select', values: ['w', ...BEFORE_NEWEST, 2, 'f'] }]);
    expect(page).toEqual({ items: ['{"n":1}'], next: ['t1', 'i1'] });
  });

  test('begins after the cursor of the request', async () => {
    const { queries } = await read(['t9', 'i9']);
    expect(queries).toEqual([{ sql: 'select', values: ['w', 't9', 'i9', 2, 'f'] }]);
  });
});
