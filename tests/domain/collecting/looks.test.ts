import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adsBeforeKnown, isNewestFirst } from '#domain/collecting/pack-batches.ts';

const day = fc.integer({ min: 1, max: 28 }).map((n) => `2026-05-${String(n).padStart(2, '0')}`);

describe('isNewestFirst', () => {
  test('holds for start dates that descend, with unknown ones among them', () => {
    fc.assert(
      fc.property(fc.array(day, { maxLength: 60 }), fc.array(fc.nat(60)), (dates, places) => {
        const descending: (string | null)[] = dates.toSorted().toReversed();
        for (const place of places) descending.splice(place, 0, null);
        expect(isNewestFirst(descending)).toBe(true);
      }),
    );
  });

  test('does not hold for dates that ascend, or alternate', () => {
    const ascending = Array.from({ length: 28 }, (_, n) => `2026-05-${String(n + 1).padStart(2, '0')}`);
    expect(isNewestFirst(ascending)).toBe(false);
    expect(isNewestFirst(ascending.map((date, n) => (n % 2 === 0 ? date : '2026-05-01')))).toBe(false);
  });

  test('holds while a few ads started days after they were created, and for too few ads to tell', () => {
    const descending = Array.from({ length: 28 }, (_, n) => `2026-05-${String(28 - n).padStart(2, '0')}`);
    expect(isNewestFirst(descending.map((date, n) => (n % 9 === 8 ? '2026-05-30' : date)))).toBe(true);
    expect(isNewestFirst(['2026-05-01', '2026-05-02', '2026-05-03'])).toBe(true);
    expect(isNewestFirst([])).toBe(true);
  });
});

test('adsBeforeKnown returns the ads of each page before its first known ad, also between ads of other pages', () => {
  const ads = ['a:3', 'b:8', 'a:2', 'b:7', 'a:1', 'b:6', 'c:9'].map((text) => {
    const [page_id, ad_id] = text.split(':') as [string, string];
    return { page_id, ad_id };
  });
  const known = new Map([
    ['a', new Set(['2', '1'])],
    ['b', new Set(['6'])],
  ]);
  expect(adsBeforeKnown(ads, known).map(({ ad_id }) => ad_id)).toEqual(['3', '8', '7', '9']);
});
