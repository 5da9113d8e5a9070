import { describe, expect, test } from 'vitest';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { type Read, unanswered, unmetFaults } from './history.ts';
import {
  partsByBrand,
  prefixesOf,
  type TrackingOutcome,
  type TrackingWrite,
  trackingModel,
} from './kinds/tracking.ts';
import { isLinearizable, smallestUnexplained } from './linearizability.ts';
import { brokenReads, smallestBroken } from './session-reads.ts';
import { shrink } from './shrink.ts';

/** Broken histories, which the checks must find. */

const AT = Date.parse('2026-11-01T00:00:00.000Z');
const time = (ms: number): string => new Date(AT + ms).toISOString();
const FOREVER = Number.POSITIVE_INFINITY;

const track = (
  brand: string,
  [sent, ended]: readonly [number, number],
  createdMs: number | null,
  caller = 0,
): TrackingWrite => ({
  caller,
  sentMs: AT + sent,
  endedMs: AT + ended,
  position: null,
  operation: { kind: 'track', brand, cadence: 'daily' },
  outcome: createdMs === null ? { kind: 'unknown' } : { kind: 'tracked', createdAt: time(createdMs) },
});
const untrack = (
  brand: string,
  [sent, ended]: readonly [number, number],
  removed: boolean | null,
): TrackingWrite => ({
  ...track(brand, [sent, ended], 0),
  operation: { kind: 'untrack', brand },
  outcome: removed === null ? { kind: 'unknown' } : { kind: 'untracked', removed },
});
const answered = (write: TrackingWrite, outcome: TrackingOutcome): TrackingWrite => ({ ...write, outcome });
const last = (...brands: readonly (readonly [string, number])[]): string =>
  JSON.stringify(brands.map(([brand, ms]) => [brand, { cadence: 'daily', created_at: time(ms) }]));

const holds = (writes: readonly TrackingWrite[], end: string): boolean =>
  isLinearizable(trackingModel(end), writes);

describe('writes have an order', () => {
  test('in which each outcome is possible, in any order of the answers', () => {
    const slow = track('a', [0, 100], 10);
    expect(holds([slow, untrack('a', [20, 50], true)], last())).toBe(true);
    expect(holds([slow, untrack('a', [20, 50], true), track('a', [60, 90], 70)], last(['a', 70]))).toBe(true);
    expect(holds([slow, untrack('a', [20, 50], false), track('a', [60, 90], 10)], last(['a', 10]))).toBe(
      true,
    );
    expect(holds([slow, untrack('a', [20, 50], true), track('a', [60, 90], 10)], last(['a', 10]))).toBe(
      false,
    );
  });

  test('but none when an acknowledged write is missing at the end, or one was done twice', () => {
    expect(holds([track('a', [0, 10], 5)], last())).toBe(false);
    expect(holds([track('a', [0, 90], 50), untrack('a', [20, 30], true)], last(['a', 50]))).toBe(false);
  });

  test('but none against the order of time', () => {
    expect(holds([untrack('a', [0, 10], true), track('a', [20, 30], 25)], last(['a', 25]))).toBe(false);
    expect(holds([untrack('a', [0, 22], true), track('a', [20, 30], 21)], last())).toBe(true);
  });

  test('with an unknown one at any later time, or never', () => {
    expect(holds([track('a', [0, FOREVER], null), untrack('a', [20, 30], true)], last())).toBe(true);
    expect(holds([track('a', [0, FOREVER], null), untrack('a', [20, 30], false)], last())).toBe(true);
    expect(holds([track('a', [0, FOREVER], null), untrack('a', [20, 30], false)], last(['a', 5]))).toBe(true);
    expect(holds([track('a', [40, FOREVER], null), untrack('a', [20, 30], true)], last())).toBe(false);
  });

  test('in which a sixth brand is refused by a full plan only', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((brand, at) => track(brand, [at, at], at));
    const sixth = answered(track('f', [20, 30], 0), { kind: 'refused' });
    const ends = five.map(({ operation: { brand } }, at) => [brand, at] as const);
    expect(holds([...five, sixth], last(...ends))).toBe(true);
    expect(holds([...five.slice(1), sixth], last(...ends.slice(1)))).toBe(false);
    expect(holds([...five, track('f', [20, 30], 25)], last(...ends, ['f', 25]))).toBe(false);
  });
});

describe('a failing history is reduced to', () => {
  const reduced = (writes: readonly TrackingWrite[], end: string): readonly TrackingWrite[] =>
    smallestUnexplained({ model: trackingModel(end), calls: writes }, partsByBrand(end, writes), unanswered);
  /** Writes of other brands, which an order explains. */
  const others = ['x', 'y', 'z'].flatMap((brand, at) => [
    track(brand, [at, at + 10], at + 5, 1),
    untrack(brand, [at + 20, at + 60], true),
    track(brand, [at + 70, at + 80], at + 75, 2),
  ]);

  const end = last(['x', 75], ['y', 76], ['z', 77]);

  test('the answers that contradict each other, of one brand and up to the first that has no place', () => {
    const first = track('a', [0, 10], 5);
    const second = untrack('a', [20, 30], false);
    const later = [track('a', [40, 50], 5), untrack('a', [60, 70], false)];
    const writes = [...others, first, second, ...later];
    expect(holds(others, end)).toBe(true);
    expect(reduced(writes, end)).toEqual([first, second]);
  });

  test('answers of which none can be forgotten, with the other writes of the brand', () => {
    const writes = [
      track('a', [0, 10], 5),
      untrack('a', [20, 30], true),
      track('a', [40, 50], 45),
      untrack('a', [60, 70], true),
      untrack('a', [80, 90], true),
      ...others,
    ];
    const least = reduced(writes, end);
    expect(holds(least, end)).toBe(false);
    const answers = least.filter(({ endedMs }) => endedMs !== FOREVER);
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) {
      const without = least.map((write) => (write === answer ? unanswered(write) : write));
      expect(isLinearizable({ ...trackingModel(end), isLast: () => true }, without)).toBe(true);
    }
  });

  test('all brands when only the slots of the plan are broken', () => {
    const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((brand, at) => track(brand, [at, at], at));
    const ends = six.map(({ operation: { brand } }, at) => [brand, at] as const);
    expect(reduced(six, last(...ends))).toEqual(six);
  });

  test('the last state when only that is unexplained', () => {
    const lost = track('a', [0, 10], 5);
    expect(reduced([...others, lost], end)).toEqual([lost]);
  });
});

test('a failing list is reduced to a part that fails, and of which every item is needed', () => {
  const needs = [3, 4, 11];
  const tried: number[] = [];
  const part = shrink(
    Array.from({ length: 20 }, (_, at) => at),
    (items) => {
      tried.push(items.length);
      return needs.every((one) => items.includes(one));
    },
  );
  expect(part).toEqual(needs);
  expect(tried.length).toBeLessThan(60);
  expect(shrink([1, 2], () => false)).toEqual([1, 2]);
  expect(shrink([1, 2], () => true)).toEqual([]);
});

test('a fault without a request under way at its API process is named', () => {
  const fault = (api: number, beganMs: number, endedMs: number) => ({ api, what: 'cut', beganMs, endedMs });
  const attempts = [
    { api: 0, sentMs: 10, endedMs: 20 },
    { api: 1, sentMs: 40, endedMs: 90 },
  ];
  const met = [fault(0, 0, 10), fault(0, 20, 30), fault(1, 50, 50)];
  const unmet = [fault(0, 21, 60), fault(1, 0, 39)];
  expect(unmetFaults([...met, ...unmet], attempts)).toEqual(unmet);
});

describe('a read', () => {
  const tracked = (brand: string, ms: number): TrackingEvent => ({
    type: 'BrandTracked',
    data: { workspace_id: '', brand_id: brand, cadence: 'daily', tracked_at: time(ms) },
  });
  const stream = { prefixes: prefixesOf([tracked('a', 1), tracked('b', 2)]), positions: [10n, 20n] };
  const shown = (...brands: readonly (readonly [string, number])[]) =>
    new Map(brands.map(([brand, ms]) => [brand, JSON.stringify({ cadence: 'daily', created_at: time(ms) })]));
  const read = (sentMs: number, brands: ReturnType<typeof shown>): Read => ({
    caller: 0,
    sentMs: AT + sentMs,
    endedMs: AT + sentMs + 1,
    shown: brands,
    isWhole: true,
  });
  const own = { ...track('a', [0, 5], 1), position: 10n };
  const reasons = (reads: readonly Read[], writes: readonly TrackingWrite[] = []) =>
    brokenReads({ writes, reads }, stream).map((line) => /: (the [^;]+);/.exec(line)?.[1]);

  test('shows the stream as it was once', () => {
    expect(reasons([read(1, shown()), read(5, shown(['a', 1])), read(9, shown(['a', 1], ['b', 2]))])).toEqual(
      [],
    );
    expect(reasons([read(1, shown(['b', 2]))])).toEqual(['the stream was never like this']);
    expect(reasons([read(1, shown(['a', 3]))])).toEqual(['the stream was never like this']);
  });

  test('shows what its caller wrote and read before', () => {
    expect(reasons([read(6, shown())], [own])).toEqual(['the caller wrote more before, 1 events']);
    expect(reasons([read(6, shown(['a', 1]))], [own])).toEqual([]);
    expect(reasons([read(3, shown())], [own])).toEqual([]);
    expect(reasons([read(6, shown(['a', 1], ['b', 2])), read(8, shown(['a', 1]))])).toEqual([
      'the caller read more before, 2 events',
    ]);
  });

  test('that is broken is shown with the one call that it contradicts', () => {
    const late = read(8, shown(['a', 1]));
    const seen = read(6, shown(['a', 1], ['b', 2]));
    const others = [read(1, shown()), read(2, shown(['a', 1])), { ...read(7, shown()), caller: 1 }];
    const noise = [own, { ...own, caller: 1 }];
    expect(smallestBroken({ writes: noise, reads: [...others, seen, late] }, stream)).toEqual({
      writes: [],
      reads: [seen, late],
    });
    const stale = read(6, shown());
    expect(smallestBroken({ writes: noise, reads: [stale, read(9, shown(['a', 1]))] }, stream)).toEqual({
      writes: [own],
      reads: [stale],
    });
    const strange = read(6, shown(['b', 2]));
    expect(smallestBroken({ writes: noise, reads: [...others, strange] }, stream)).toEqual({
      writes: [],
      reads: [strange],
    });
  });
});
