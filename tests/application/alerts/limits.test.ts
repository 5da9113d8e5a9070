import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countMessage, dueTime, openDayCounts } from '#application/alerts/limits.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { ruleOf } from './rule.ts';

const MINUTE_MS = 60_000;
const NIGHT = { from: '22:00', to: '07:00', time_zone: 'Europe/Vienna' };
const quiet = (more: Partial<AlertRule> = {}): AlertRule => ruleOf({ quiet_hours: NIGHT, ...more });

describe('quiet hours', () => {
  test.each([
    ['the minute before', '2026-11-20T20:59:59.999Z', '2026-11-20T20:59:59.999Z'],
    ['their first instant', '2026-11-20T21:00:00.000Z', '2026-11-21T06:00:00.000Z'],
    ['after midnight', '2026-11-21T05:59:59.999Z', '2026-11-21T06:00:00.000Z'],
    ['their end', '2026-11-21T06:00:00.000Z', '2026-11-21T06:00:00.000Z'],
    ['the night in which summer time begins', '2026-03-28T23:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['the night in which summer time ends', '2026-10-24T21:00:00.000Z', '2026-10-25T06:00:00.000Z'],
  ])('delay an alert to their end in their time zone: %s', (_, at, due) => {
    expect(dueTime(quiet(), at)).toBe(due);
  });

  test('of a day lie between their times', () => {
    const lunch = quiet({ quiet_hours: { from: '12:00', to: '13:00', time_zone: 'UTC' } });
    expect(dueTime(lunch, '2026-11-20T12:30:00.000Z')).toBe('2026-11-20T13:00:00.000Z');
    expect(dueTime(lunch, '2026-11-20T13:00:00.000Z')).toBe('2026-11-20T13:00:00.000Z');
  });

  test.each([
    ['22:00', '02:30', 'Europe/Vienna', '2026-10-25T01:03:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['00:30', '01:30', 'America/New_York', '2026-11-01T06:03:00.000Z', '2026-11-01T06:30:00.000Z'],
    ['02:30', '02:00', 'Europe/Vienna', '2026-03-28T17:00:00.000Z', '2026-03-30T00:00:00.000Z'],
  ])('from %s to %s end once when clocks change in %s', (from, to, time_zone, at, due) => {
    expect(dueTime(quiet({ quiet_hours: { from, to, time_zone } }), at)).toBe(due);
  });

  test('end with the first minute outside of them, in any time zone, also when clocks change', () => {
    const time = fc
      .tuple(fc.nat(23), fc.nat(59))
      .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
    const zone = fc.constantFrom(
      'Europe/Vienna',
      'America/New_York',
      'Australia/Lord_Howe',
      'Africa/Cairo',
      'UTC',
    );
    // Clocks change in these months.
    const at = fc
      .constantFrom('2026-03', '2026-04', '2026-10', '2026-11')
      .chain((month) => fc.nat(30 * DAY_MS).map((ms) => Date.parse(`${month}-01T00:00:00Z`) + ms));
    fc.assert(
      fc.property(time, time, zone, at, (from, to, time_zone, start) => {
        fc.pre(from !== to);
        const clock = new Intl.DateTimeFormat('en-GB', { timeZone: time_zone, timeStyle: 'short' });
        const isQuiet = (ms: number): boolean => {
          const now = clock.format(ms);
          return from < to ? from <= now && now < to : from <= now || now < to;
        };
        let due = start;
        if (isQuiet(start)) due = Math.floor(start / MINUTE_MS) * MINUTE_MS;
        while (isQuiet(due)) due += MINUTE_MS;
        const rule = quiet({ quiet_hours: { from, to, time_zone } });
        expect(dueTime(rule, new Date(start).toISOString())).toBe(new Date(due).toISOString());
      }),
    );
  });

  test('do not delay digests of a day or week', () => {
    const at = '2026-11-20T23:00:00.000Z';
    expect(dueTime(quiet({ cadence: 'daily' }), at)).toBe(at);
  });
});

test('a UTC day has at most the maximum of messages, the digest of the day before included', () => {
  const times = fc.array(fc.nat(5 * DAY_MS), { maxLength: 40 }).map((ms) => ms.toSorted((a, b) => a - b));
  const isQuiet = fc.boolean();
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 4 }), isQuiet, (offsets, max_per_day, hasQuiet) => {
      const rule = ruleOf({ max_per_day, ...(hasQuiet ? { quiet_hours: NIGHT } : {}) });
      const counts = openDayCounts();
      const messages: string[] = [];
      const digests = new Set<string>();
      let alerts = 0;
      for (const offset of offsets) {
        const at = new Date(Date.parse('2026-11-20') + offset).toISOString();
        const day = countMessage(rule, at, counts);
        if (day === null) {
          messages.push(utcDate(dueTime(rule, at)));
          alerts += 1;
        } else digests.add(day);
      }
      for (const day of digests) {
        expect(messages.filter((one) => one === day).length).toBeGreaterThan(0);
        const end = new Date(Date.parse(day) + DAY_MS).toISOString();
        messages.push(utcDate(dueTime(rule, end)));
      }
      for (const ofDay of Map.groupBy(messages, (day) => day).values())
        expect(ofDay.length).toBeLessThanOrEqual(max_per_day);
      expect(alerts > 0 || offsets.length === 0).toBe(true);
    }),
  );
});
