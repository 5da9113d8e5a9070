import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import {
  forecast,
  FORECAST_DAYS,
  type PlannedReading,
  type ReadCadence,
} from '#domain/collecting/forecast.ts';
import { callsOf, packBatches } from '#domain/collecting/pack-batches.ts';

const NOW_MS = Date.parse('2026-05-10T12:00:00Z');
const PROMISED = { daily: 36, weekly: 192, idle: null } as const;
const limits = (callsPerHour: number) => ({ nowMs: NOW_MS, callsPerHour, promisedHours: PROMISED });

const readings = fc
  .array(
    fc.record({
      cadence: fc.constantFrom<ReadCadence>('daily', 'weekly', 'idle'),
      dueMs: fc.integer({ min: -20 * 24, max: 30 * 24 }).map((hours) => NOW_MS + hours * HOUR_MS),
      calls: fc.integer({ min: 1, max: 40 }).map((halves) => halves / 2),
    }),
    { maxLength: 60 },
  )
  .map((list) => list.map((one, index) => ({ ...one, id: `reading-${index}` })));

describe('a forecast', () => {
  test('never makes more calls than the limit, in any span of time', () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: 1, max: 200 }), (list, callsPerHour) => {
        const { turns } = forecast(list, limits(callsPerHour));
        const callsOfId = new Map(list.map(({ id, calls }) => [id, calls]));
        let freeMs = NOW_MS;
        for (const { id, startMs, endMs } of turns) {
          expect(startMs).toBeGreaterThanOrEqual(freeMs);
          expect(((endMs - startMs) / HOUR_MS) * callsPerHour).toBeCloseTo(callsOfId.get(id) ?? 0, 3);
          freeMs = endMs;
        }
      }),
    );
  });

  test('reads nothing before it is due, nothing twice in an interval, and loses nothing', () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: 1, max: 200 }), (list, callsPerHour) => {
        const { turns, late } = forecast(list, limits(callsPerHour));
        const last = new Map<string, number>();
        const intervals = { daily: 24, weekly: 168, idle: 720 };
        for (const { id, startMs } of turns) {
          const reading = list.find((one) => one.id === id) as PlannedReading;
          const dueMs = last.get(id) ?? reading.dueMs;
          expect(startMs).toBeGreaterThanOrEqual(dueMs);
          last.set(id, startMs + intervals[reading.cadence] * HOUR_MS);
        }
        // A reading without a turn is not due, is late, or promises no time.
        for (const { id, cadence, dueMs } of list) {
          if (last.has(id) || cadence === 'idle') continue;
          const promiseMs = dueMs + (PROMISED[cadence] - intervals[cadence]) * HOUR_MS;
          expect(promiseMs >= NOW_MS + FORECAST_DAYS * DAY_MS || late.includes(id)).toBe(true);
        }
        expect(new Set(late).size).toBe(late.length);
      }),
    );
  });

  test('reads a source with its own interval in that interval, and promises what the cadence does', () => {
    const site = { id: 'site', cadence: 'daily', dueMs: NOW_MS, calls: 6, intervalHours: 720 } as const;
    const { turns, load, late } = forecast([site], limits(60));
    expect(turns).toMatchObject([{ id: 'site', startMs: NOW_MS, isLate: false }]);
    expect(load).toBeCloseTo(6 / 720 / 60, 12);
    expect(late).toEqual([]);
    const [before, after] = [-11, -12].map((hours) => ({ ...site, dueMs: NOW_MS + hours * HOUR_MS }));
    expect(forecast([before as typeof site], limits(60)).late).toEqual([]);
    expect(forecast([after as typeof site], limits(60)).late).toEqual(['site']);
  });

  test('never waits while a reading is due', () => {
    fc.assert(
      fc.property(readings, fc.integer({ min: 1, max: 200 }), (list, callsPerHour) => {
        const { turns } = forecast(list, limits(callsPerHour));
        const hours = { daily: 24, weekly: 168, idle: 720 };
        const due = new Map(list.map(({ id, dueMs }) => [id, dueMs]));
        let freeMs = NOW_MS;
        for (const { id, startMs, endMs } of turns) {
          expect(startMs).toBe(Math.max(freeMs, Math.min(...due.values())));
          const { cadence } = list.find((one) => one.id === id) as PlannedReading;
          due.set(id, startMs + hours[cadence] * HOUR_MS);
          freeMs = endMs;
        }
        const nextMs = Math.max(freeMs, Math.min(...due.values()));
        expect(nextMs).toBeGreaterThanOrEqual(NOW_MS + FORECAST_DAYS * DAY_MS);
      }),
    );
  });

  test('reports nothing late while half of the calls suffice and nothing is due yet', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (count) => {
        const list = Array.from({ length: count }, (_, index) => ({
          id: String(index),
          cadence: 'daily' as const,
          dueMs: NOW_MS + (index / count) * DAY_MS,
          calls: 3.5,
        }));
        const { late, load } = forecast(list, limits((count * 3.5 * 2) / 24));
        expect(load).toBeCloseTo(0.5, 6);
        expect(late).toEqual([]);
      }),
    );
  });

  test.each([
    [25, 'weekly', 1.9, 0.28, 0],
    [25, 'daily', 1.9, 1.94, 10_000],
    [100, 'weekly', 3.6, 0.52, 0],
    [100, 'daily', 3.6, 3.61, 10_000],
  ] as const)(
    'of 10,000 brands of two pages with %i ads, %s, has the figures of one app',
    (ads, cadence, days, load, atMost) => {
      const pages = Array.from({ length: 20_000 }, (_, index) => ({ pageId: String(index), ads }));
      const batches = packBatches(pages).map((batch, index, all) => ({
        id: String(index),
        cadence,
        dueMs: NOW_MS + (index / all.length) * (cadence === 'daily' ? DAY_MS : 7 * DAY_MS),
        calls: callsOf(batch),
      }));
      const found = forecast(batches, limits(150));
      expect(found.daysPerRound).toBeCloseTo(days, 1);
      expect(found.load).toBeCloseTo(load, 1);
      expect(found.late.length > 0).toBe(atMost > 0);
    },
  );

  test('needs a limit that allows calls', () => {
    expect(() => forecast([], limits(0))).toThrow('more than 0 calls');
  });
});
