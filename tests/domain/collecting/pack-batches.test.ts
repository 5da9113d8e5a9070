import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BATCH_ADS_MAX,
  BATCH_PAGES_MAX,
  callsOf,
  fillBatch,
  packBatches,
} from '#domain/collecting/pack-batches.ts';

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

describe('the next batch of due brands', () => {
  const brands = fc
    .array(fc.array(page, { maxLength: 14 }), { maxLength: 30 })
    .map((lists) => lists.map((list, index) => ({ domain: `brand-${index}.example`, pages: list })));

  test('begins with the most urgent brand that has pages, and holds more only within the limits', () => {
    fc.assert(
      fc.property(brands, (due) => {
        const chosen = fillBatch(due);
        const withPages = due.filter((brand) => brand.pages.length > 0);
        expect(chosen[0]).toEqual(withPages[0]);
        expect(chosen).toEqual(due.filter((brand) => chosen.includes(brand)));
        if (chosen.length < 2) return;
        const ids = new Set(chosen.flatMap((brand) => brand.pages.map(({ pageId }) => pageId)));
        expect(ids.size).toBeLessThanOrEqual(BATCH_PAGES_MAX);
      }),
    );
  });

  test('leaves out no brand that adds neither pages nor ads', () => {
    fc.assert(
      fc.property(brands, (due) => {
        const [first] = fillBatch(due);
        if (first === undefined) return;
        const again = { domain: 'again.example', pages: first.pages };
        const fits = new Set(first.pages.map(({ pageId }) => pageId)).size <= BATCH_PAGES_MAX;
        const ads = first.pages.reduce((sum, one) => sum + one.ads, 0) <= BATCH_ADS_MAX;
        if (fits && ads) expect(fillBatch([first, again])).toEqual([first, again]);
      }),
    );
  });
});
