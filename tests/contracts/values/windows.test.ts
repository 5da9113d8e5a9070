import { describe, expect, test } from 'vitest';
import { windowStart } from '#contracts/values/windows.ts';

describe('a window', () => {
  test.each([
    ['2026-05-14T00:00:00.000Z', 7, '2026-05-08'],
    ['2026-05-14T23:59:59.999Z', 7, '2026-05-08'],
    ['2026-03-01T10:00:00.000Z', 30, '2026-01-31'],
    ['2026-05-14T10:00:00.000Z', 1, '2026-05-14'],
  ])('that ends with the day of %s and has %i days starts on %s', (asOf, days, start) => {
    expect(windowStart(asOf, days)).toBe(start);
  });
});
