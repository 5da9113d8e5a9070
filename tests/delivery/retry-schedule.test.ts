import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RETRY_AFTER_MAX_MS, retryAfterMs } from '#platform/channels/send-outcome.ts';
import { afterAttempt, JITTER_MAX, RETRY_DELAYS_MS } from '#services/delivery/retry-schedule.ts';

const AT = new Date('2026-11-21T08:00:00.000Z');
const failed = { delivered: false, terminal: false, retry_after_ms: null };

test('documents ten attempts over 75 hours and 35 minutes, plus jitter', () => {
  expect(RETRY_DELAYS_MS.map((ms) => ms / 1_000)).toEqual([
    5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
  ]);
});

test('schedules the next attempt within its jitter, and never before Retry-After', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: RETRY_DELAYS_MS.length }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.option(fc.integer({ min: 0, max: RETRY_AFTER_MAX_MS })),
      (round, chance, retry_after_ms) => {
        const next = afterAttempt({ ...failed, retry_after_ms }, round, AT, chance);
        const waitMs = (next.nextAttemptAt?.getTime() ?? 0) - AT.getTime();
        const delayMs = RETRY_DELAYS_MS[round - 1] ?? 0;
        expect(next.outcome).toBe('retrying');
        expect(waitMs).toBeGreaterThanOrEqual(Math.max(delayMs, retry_after_ms ?? 0));
        expect(waitMs).toBeLessThanOrEqual(Math.max(delayMs * (1 + JITTER_MAX) + 1, retry_after_ms ?? 0));
      },
    ),
  );
});

test('schedules no attempt after the tenth failure, a terminal failure or a delivery', () => {
  expect(afterAttempt(failed, RETRY_DELAYS_MS.length + 1, AT, 0)).toEqual({
    outcome: 'failed',
    nextAttemptAt: null,
  });
  expect(afterAttempt({ ...failed, terminal: true }, 1, AT, 0)).toEqual({
    outcome: 'failed',
    nextAttemptAt: null,
  });
  expect(afterAttempt({ ...failed, delivered: true }, 1, AT, 0)).toEqual({
    outcome: 'delivered',
    nextAttemptAt: null,
  });
});

test.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['Sat, 21 Nov 2026 08:01:00 GMT', 60_000],
  ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
  ['Saturday, 21-Nov-26 08:01:00 GMT', 60_000],
  ['Sat Nov 21 08:01:00 2026', 60_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', RETRY_AFTER_MAX_MS],
  ['99999999999999999999', RETRY_AFTER_MAX_MS],
  ['-5', null],
  ['1.5', null],
  ['1e9', null],
  ['2026-11-22', null],
  ['Sat, 21 Nov 2026 08:01:00 +0900', null],
  ['soon', null],
  ['', null],
  [undefined, null],
])('parses Retry-After: %s', (value, expected) => {
  expect(retryAfterMs(value, AT)).toBe(expected);
});
