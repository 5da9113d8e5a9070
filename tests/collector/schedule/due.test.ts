import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { nextDue, retryDelayMs } from '#services/collector/schedule/target-store.ts';
import { runs } from '#tests/property-seed.ts';

const READ_AT = new Date('2026-05-10T08:00:00Z');
const before = (ms: number): Date => new Date(READ_AT.getTime() - ms);
const domain = fc.domain();

const interval = (of: string, cadence: 'daily' | 'weekly', wishedAt: Date, intervalMs?: number): number =>
  nextDue({
    domain: of,
    cadence,
    wishedAt,
    readAt: READ_AT,
    ...(intervalMs === undefined ? {} : { intervalMs }),
  }).getTime() - READ_AT.getTime();

describe('a target that was read', () => {
  test.each<readonly [string, 'daily' | 'weekly', number, number | undefined, number]>([
    ['each day while it is requested', 'daily', 0, undefined, 24 * HOUR_MS],
    ['each week while it is requested', 'weekly', 0, undefined, 168 * HOUR_MS],
    ['each day, 14 days after its last request', 'daily', 14 * DAY_MS, undefined, 24 * HOUR_MS],
    [
      'every 30 days, when its last request is older than 14 days',
      'daily',
      14 * DAY_MS + 1,
      undefined,
      30 * DAY_MS,
    ],
    [
      'every 30 days, when a weekly one was not requested for that long',
      'weekly',
      15 * DAY_MS,
      undefined,
      30 * DAY_MS,
    ],
    ['in the interval of its source, also without requests', 'daily', 15 * DAY_MS, 3 * DAY_MS, 3 * DAY_MS],
  ])('is due %s, up to a tenth early', (_name, cadence, wishedBeforeMs, intervalMs, expectedMs) => {
    fc.assert(
      fc.property(domain, (of) => {
        const ms = interval(of, cadence, before(wishedBeforeMs), intervalMs);
        expect(ms).toBeGreaterThanOrEqual(0.9 * expectedMs - 1);
        expect(ms).toBeLessThanOrEqual(expectedMs);
        expect(interval(of, cadence, before(wishedBeforeMs), intervalMs)).toBe(ms);
      }),
      { numRuns: runs(100) },
    );
  });

  test('does not stay together with others that were read at the same time', () => {
    const times = Array.from({ length: 1_000 }, (_, n) => interval(`shop-${n}.example`, 'daily', READ_AT));
    const early = times.filter((ms) => ms < 0.95 * DAY_MS).length;
    expect(new Set(times).size).toBeGreaterThan(990);
    expect(early).toBeGreaterThan(400);
    expect(early).toBeLessThan(600);
  });
});

test.each([
  [1, 5],
  [2, 10],
  [4, 40],
  [5, 60],
  [1_000, 60],
])('a target that failed %i times is tried again after %i minutes', (failures, minutes) => {
  expect(retryDelayMs(failures)).toBe(minutes * MINUTE_MS);
});
