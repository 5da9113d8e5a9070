import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { type Pace, nextCallMs, recordCall, startPace, usageOf } from '#domain/collecting/pace.ts';
import { runs } from '#tests/property-seed.ts';

const NOW_MS = Date.parse('2026-05-10T12:00:00Z');
const callAt = (ms: number) => ({ startMs: ms, endMs: ms });

/** Plays an hour's limit: `cost` percent a call, and `others` percent of other programs. */
const play = (cost: number, others: number, hours: number, known: boolean) => {
  let pace: Pace = startPace(known ? others : null);
  let atMs = NOW_MS;
  const starts: number[] = [];
  const percents: number[] = [];
  while (atMs < NOW_MS + hours * HOUR_MS) {
    starts.push(atMs);
    const inHour = starts.filter((start) => start > atMs - HOUR_MS).length;
    const percent = Math.floor(inHour * cost + others);
    percents.push(percent);
    pace = recordCall(pace, callAt(atMs), { percent, regainMinutes: 0 });
    atMs = Math.max(nextCallMs(pace, 150), atMs + 1);
  }
  return { starts, percents };
};

describe('the pace of calls', () => {
  test('never fills a meter of the last hour, and never exceeds the calls of an hour', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 30, noNaN: true }),
        fc.integer({ min: 0, max: 30 }),
        fc.boolean(),
        (cost, others, known) => {
          const { starts, percents } = play(cost, others, 5, known);
          expect(Math.max(...percents)).toBeLessThan(100);
          for (const [index, start] of starts.entries()) {
            const before = starts[index - 1];
            if (before !== undefined) expect(start - before).toBeGreaterThanOrEqual(24 * SECOND_MS);
          }
        },
      ),
      { numRuns: runs(30) },
    );
  });

  test('is the whole pace while calls cost little, and goes on when they cost much', () => {
    expect(play(0.3, 0, 5, true).starts.length).toBe(750);
    expect(play(30, 0, 5, true).starts.length).toBeGreaterThanOrEqual(8);
  });

  test.each([
    [49, 24 * SECOND_MS],
    [50, 48 * SECOND_MS],
    [74, 48 * SECOND_MS],
    [75, 96 * SECOND_MS],
    [89, 96 * SECOND_MS],
  ])('at %i %% usage waits %i ms between calls', (percent, waitMs) => {
    const pace = recordCall(startPace(percent), callAt(NOW_MS), { percent, regainMinutes: 0 });
    expect(nextCallMs(pace, 150)).toBe(NOW_MS + waitMs);
  });

  test.each([
    [0, 15],
    [3, 15],
    [40, 40],
  ])('at 90 %% usage pauses for the %i minutes of the platform, at least 15', (regainMinutes, minutes) => {
    const pace = recordCall(
      startPace(90),
      { startMs: NOW_MS, endMs: NOW_MS + SECOND_MS },
      { percent: 90, regainMinutes },
    );
    expect(nextCallMs(pace, 150)).toBe(NOW_MS + SECOND_MS + minutes * MINUTE_MS);
  });

  test('is even when no answer reports usage', () => {
    let pace = startPace(null);
    for (let call = 0; call < 200; call += 1) {
      const atMs = Math.max(NOW_MS, nextCallMs(pace, 150));
      expect(atMs).toBe(NOW_MS + call * 24 * SECOND_MS);
      pace = recordCall(pace, callAt(atMs), null);
    }
    expect(pace.calls.length).toBe(150);
  });
});

describe('the usage of an answer', () => {
  const business = (member: object): Record<string, string> => ({
    'x-business-use-case-usage': JSON.stringify({ '1234567': [{ type: 'ads_archive', ...member }] }),
  });

  test('is the largest percentage of any header, under any name', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}_(pct|count|cputime)$/), fc.nat(200), { minKeys: 1 }),
        fc.nat(200),
        fc.nat(600),
        (shares, calls, minutes) => {
          const headers = {
            ...business({ ...shares, estimated_time_to_regain_access: minutes }),
            'x-app-usage': JSON.stringify({ call_count: calls }),
          };
          const percent = Math.max(calls, ...Object.values(shares));
          expect(usageOf(headers)).toEqual({ percent, regainMinutes: minutes });
        },
      ),
    );
  });

  test('ignores times, texts and numbers of accounts', () => {
    const member = { total_time: 37, call_count: 3, reset_time_duration: 3_600, ads_api_access_tier: 'x' };
    expect(usageOf(business(member))).toEqual({ percent: 37, regainMinutes: 0 });
  });

  test('is within bounds, also when a header lies', () => {
    for (const lie of ['1e999', '1e300', '99999999999999999999']) {
      const member = `{"call_count":${lie},"estimated_time_to_regain_access":${lie}}`;
      const usage = usageOf({ 'x-business-use-case-usage': `{"1":[${member}]}` });
      expect(usage).toEqual({ percent: 1_000, regainMinutes: 24 * 60 });
      const pace = recordCall(startPace(0), { startMs: NOW_MS, endMs: NOW_MS }, usage);
      // After a day of pause comes a quarter of the pace.
      expect(nextCallMs(pace, 150)).toBe(NOW_MS + 24 * HOUR_MS);
      const after = recordCall(pace, { startMs: NOW_MS + 24 * HOUR_MS, endMs: NOW_MS + 24 * HOUR_MS }, null);
      expect(nextCallMs(after, 150)).toBeLessThanOrEqual(NOW_MS + 28 * HOUR_MS);
    }
  });

  test.each([
    ['no header', {}],
    ['broken JSON', { 'x-app-usage': '{"call_count":' }],
    ['no number', { 'x-app-usage': '{"call_count":"3"}' }],
    ['deep nesting', { 'x-app-usage': `${'['.repeat(3_000)}1${']'.repeat(3_000)}` }],
  ])('is unknown with %s', (_name, headers) => {
    expect(usageOf(headers)).toBeNull();
  });
});
