import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BATCH_ADS_MAX, BATCH_PAGES_MAX, callsOf, packBatches } from '#domain/collecting/pack-batches.ts';

const page = fc.record({
  pageId: fc.integer({ min: 1, max: 400 }).map(String),
  ads: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 5_000 })),
});
const pages = fc.array(page, { maxLength: 400 });

describe('batches of social pages', () => {
  test('hold each page id once, within the limits', () => {
    fc.assert(
      fc.property(pages, (list) => {
        const batches = packBatches(list);
        const packed = batches.flatMap(({ pageIds }) => pageIds);
        expect(packed.toSorted()).toEqual([...new Set(list.map(({ pageId }) => pageId))].toSorted());
        for (const { pageIds, ads } of batches) {
          expect(pageIds.length).toBeGreaterThan(0);
          expect(pageIds.length).toBeLessThanOrEqual(BATCH_PAGES_MAX);
          if (pageIds.length > 1) expect(ads).toBeLessThanOrEqual(BATCH_ADS_MAX);
          const expected = pageIds.map((id) =>
            Math.max(...list.filter(({ pageId }) => pageId === id).map((one) => one.ads)),
          );
          expect(ads).toBe(expected.reduce((sum, count) => sum + count, 0));
        }
      }),
    );
  });

  test('do not depend on the order of the pages', () => {
    fc.assert(
      fc.property(
        pages.chain((list) =>
          fc.tuple(
            fc.constant(list),
            fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
          ),
        ),
        ([list, shuffled]) => {
          expect(packBatches(shuffled)).toEqual(packBatches(list));
        },
      ),
    );
  });

  test.each([
    [25, 2_000, 7_000],
    [100, 2_000, 13_000],
  ])('of 20,000 pages with %i ads are %i, and take %i calls', (ads, count, calls) => {
    const list = Array.from({ length: 20_000 }, (_, index) => ({ pageId: String(index), ads }));
    const batches = packBatches(list);
    expect(batches).toHaveLength(count);
    expect(batches.reduce((sum, batch) => sum + callsOf(batch), 0)).toBe(calls);
  });
});
