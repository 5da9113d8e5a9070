import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import {
  type ArchiveAccess,
  FIRST_PAGE_SIZE,
  type PageSize,
  afterGoodPage,
  halvedPage,
  mayCall,
  shutAccess,
} from '#domain/collecting/pace.ts';
import {
  ARCHIVE_COUNTRIES,
  doubtedPages,
  isCompleteReading,
  requireCountriesKept,
} from '#domain/collecting/archive-coverage.ts';

describe('the size of a page', () => {
  test('stays from 10 to 500 after any answers', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (answers) => {
        let size: PageSize = FIRST_PAGE_SIZE;
        for (const good of answers) {
          const halved = halvedPage(size);
          size = good ? afterGoodPage(size) : (halved ?? size);
          expect(size.limit).toBeGreaterThanOrEqual(10);
          expect(size.limit).toBeLessThanOrEqual(500);
        }
      }),
    );
  });

  test('is doubled after the tenth good answer in a row, to 500', () => {
    const after = (count: number): number =>
      Array.from({ length: count }).reduce<PageSize>((size) => afterGoodPage(size), FIRST_PAGE_SIZE).limit;
    expect([after(9), after(10), after(100)]).toEqual([250, 500, 500]);
  });

  test('is halved to 10 and then no more', () => {
    const limits: number[] = [];
    for (let size = halvedPage(FIRST_PAGE_SIZE); size !== null; size = halvedPage(size))
      limits.push(size.limit);
    expect(limits).toEqual([125, 62, 31, 15, 10]);
  });
});

describe('the access of an account', () => {
  const NOW_MS = Date.parse('2026-05-10T12:00:00Z');

  test('is shut for 30 minutes, doubling to 6 hours, and never for less than the platform says', () => {
    let access: ArchiveAccess = { kind: 'open' };
    const hours: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      access = shutAccess(access, 0, NOW_MS);
      hours.push(((access.kind === 'shut' ? access.untilMs : 0) - NOW_MS) / HOUR_MS);
    }
    expect(hours).toEqual([0.5, 1, 2, 4, 6, 6]);
    expect(shutAccess({ kind: 'open' }, 1_440, NOW_MS)).toMatchObject({ untilMs: NOW_MS + 24 * HOUR_MS });
  });

  test('allows a probe when the time is over, and none when it is off', () => {
    const shut = shutAccess({ kind: 'open' }, 0, NOW_MS);
    expect(mayCall(shut, NOW_MS + 30 * MINUTE_MS - 1)).toBe(false);
    expect(mayCall(shut, NOW_MS + 30 * MINUTE_MS)).toBe(true);
    const off: ArchiveAccess = { kind: 'off', reason: 'expired' };
    expect(mayCall(off, NOW_MS + 1_000 * HOUR_MS)).toBe(false);
    expect(shutAccess(off, 0, NOW_MS)).toBe(off);
  });
});

describe('a reading of the library', () => {
  const findings = fc.record({
    ended: fc.boolean(),
    looped: fc.boolean(),
    refusedAds: fc.nat(2),
    tokenLost: fc.boolean(),
  });

  test('is complete only when it ended, no cursor came twice, no ad was refused and the token held', () => {
    fc.assert(
      fc.property(findings, (one) => {
        const faults = [!one.ended, one.looped, one.refusedAds > 0, one.tokenLost].filter(Boolean).length;
        expect(isCompleteReading(one)).toBe(faults === 0);
      }),
    );
  });

  test('doubts a page that had over 5 ads and now has none', () => {
    const before = new Map([
      ['11111', 6],
      ['22222', 5],
      ['33333', 9],
    ]);
    const now = new Map([['33333', 1]]);
    expect(doubtedPages(['11111', '22222', '33333', '44444'], before, now)).toEqual(['11111']);
  });

  test('takes more countries, and refuses fewer by name', () => {
    expect(ARCHIVE_COUNTRIES).toHaveLength(28);
    expect(new Set(ARCHIVE_COUNTRIES).size).toBe(28);
    requireCountriesKept(['DE'], ['DE', 'FR']);
    expect(() => requireCountriesKept(['DE', 'GB', 'FR'], ['FR'])).toThrow(/may only grow: DE, GB/);
  });
});
