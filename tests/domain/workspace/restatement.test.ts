import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BriefEvent } from '#contracts/events/workspace/brief.ts';
import {
  type RestatedCells,
  type RestatedRow,
  RESTATED_ROWS_MAX,
} from '#contracts/events/workspace/restated.ts';
import { brief, restateBrief } from '#domain/workspace/brief.ts';
import { report, restateReport } from '#domain/workspace/report.ts';
import {
  type Compared,
  findDifference,
  rowKey,
  takeRestated,
  type Told,
  toldCells,
} from '#domain/workspace/restatement.ts';
import { given } from '#tests/dsl/deciders.ts';

const ids = { workspace_id: 'ws_1', brief_id: 'brief' };
const AT = '2026-11-24T04:30:00.000Z';
const prepared: BriefEvent = {
  type: 'BriefPrepared',
  data: {
    ...ids,
    week: '2026-W46',
    from: '2026-11-09',
    to: '2026-11-15',
    brands: [{ brand_id: 'a', ads_started: 1, ads_stopped: 0, destinations_changed: 0 }],
    notable_items: [],
    prepared_at: '2026-11-16T06:00:01.000Z',
  },
};
const row = (brand_id: string, before: number, after: number): RestatedRow => ({
  brand_id,
  item_id: null,
  ad_id: null,
  before: { ads_started: before },
  after: { ads_started: after },
  causes: [],
});
const compared = (after: number, ...rows: readonly RestatedRow[]): Compared => ({
  after,
  rows,
  rows_total: rows.length,
  restated_at: AT,
});
const recorded = ({ after: _after, ...restated }: Compared): BriefEvent => ({
  type: 'BriefRestated',
  data: { ...ids, ...restated },
});

describe('restateBrief', () => {
  const first = compared(0, row('a', 1, 2));
  const second = compared(1, row('a', 2, 3));

  test('records what differs, and each difference once', () => {
    given(brief, prepared).when(restateBrief(first)).records(recorded(first));
    given(brief, prepared, recorded(first)).when(restateBrief(second)).records(recorded(second));
  });

  test('records nothing without a difference, and for a document that is not there', () => {
    given(brief, prepared)
      .when(restateBrief(compared(0)))
      .records();
    given(brief, prepared, recorded(first))
      .when(restateBrief(compared(1)))
      .records();
    given(brief).when(restateBrief(first)).records();
  });

  test('records nothing of a comparison that has not read the last restatement', () => {
    given(brief, prepared, recorded(first)).when(restateBrief(first)).records();
    given(brief, prepared, recorded(first))
      .when(restateBrief(compared(0, row('a', 1, 3))))
      .records();
  });

  test('records a limited number of rows, and the count of all', () => {
    const rows = Array.from({ length: RESTATED_ROWS_MAX + 7 }, (_, index) => row(`b${index}`, 0, 1));
    const many = compared(0, ...rows);
    given(brief, prepared)
      .when(restateBrief(many))
      .records(recorded({ ...many, rows: rows.slice(0, RESTATED_ROWS_MAX) }));
    const long = rows.map((one) => ({ ...one, after: { body: 'x'.repeat(10_000) } }));
    const [event] = restateBrief(compared(0, ...long))(brief.evolve(brief.initial, prepared));
    expect(JSON.stringify(event).length).toBeLessThan(250_000);
  });
});

describe('restateReport', () => {
  test('records nothing before the report is ready', () => {
    given(report)
      .when(restateReport(compared(0, row('a', 1, 2))))
      .records();
  });
});

describe('a document with its restatements', () => {
  const COLUMNS = ['type', 'stopped_on', 'correction'];
  const cells = fc.record(
    Object.fromEntries(COLUMNS.map((column) => [column, fc.constantFrom('', 'x', 'y')])),
  );
  const documents = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), cells), {
    minLength: 2,
    maxLength: 6,
  });
  const emptied = (of: RestatedCells): RestatedCells =>
    Object.fromEntries(Object.entries(of).map(([column, cell]) => [column, cell === '' ? null : cell]));

  test('is the present one, also when rows come, go and come again', () => {
    fc.assert(
      fc.property(documents, ([delivered = {}, ...later]) => {
        let told: Told | null = null;
        for (const present of later) {
          const rows = ['a', 'b', 'c'].flatMap((brand_id): RestatedRow[] => {
            const key = rowKey({ brand_id, item_id: null });
            const before = toldCells(told, key, delivered[brand_id]);
            const difference = findDifference(before, present[brand_id], COLUMNS);
            return difference ? [{ brand_id, item_id: null, ad_id: null, ...difference, causes: [] }] : [];
          });
          told = takeRestated(told, { rows, rows_total: rows.length, restated_at: AT });
          for (const brand_id of ['a', 'b', 'c']) {
            const known = toldCells(told, rowKey({ brand_id, item_id: null }), delivered[brand_id]);
            expect(known && emptied(known)).toEqual(present[brand_id] && emptied(present[brand_id]));
          }
        }
      }),
    );
  });
});
