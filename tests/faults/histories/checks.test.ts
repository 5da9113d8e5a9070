import { describe, expect, test } from 'vitest';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import type { Read, ShownBrand, Write, WriteOutcome } from './history.ts';
import { isLinearizable, shortestUnexplained } from './linearizability.ts';
import { brokenReads } from './session-reads.ts';
import { prefixesOf, trackingModel } from './tracking-model.ts';

/** The checks of recorded histories find what must not be. */

const AT = Date.parse('2026-11-01T00:00:00.000Z');
const time = (ms: number): string => new Date(AT + ms).toISOString();
const FOREVER = Number.POSITIVE_INFINITY;

const track = (
  brand: string,
  [sent, ended]: readonly [number, number],
  createdMs: number | null,
  caller = 0,
): Write => ({
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
): Write => ({
  ...track(brand, [sent, ended], 0),
  operation: { kind: 'untrack', brand },
  outcome: removed === null ? { kind: 'unknown' } : { kind: 'untracked', removed },
});
const answered = (write: Write, outcome: WriteOutcome): Write => ({ ...write, outcome });
const last = (...brands: readonly (readonly [string, number])[]): string =>
  JSON.stringify(brands.map(([brand, ms]) => [brand, { cadence: 'daily', created_at: time(ms) }]));

const holds = (writes: readonly Write[], end: string): boolean => isLinearizable(trackingModel(end), writes);

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

  test('and a failure tells the calls up to the first one that has no place', () => {
    const writes = [track('a', [0, 10], 5), untrack('a', [20, 30], false), track('b', [40, 50], 45)];
    const unanswered = (write: Write): Write => ({
      ...write,
      endedMs: FOREVER,
      outcome: { kind: 'unknown' },
    });
    expect(shortestUnexplained(trackingModel(last()), writes, unanswered)).toEqual(writes.slice(0, 2));
  });
});

describe('a read', () => {
  const tracked = (brand: string, ms: number): TrackingEvent => ({
    type: 'BrandTracked',
    data: { workspace_id: '', brand_id: brand, cadence: 'daily', tracked_at: time(ms) },
  });
  const stream = { prefixes: prefixesOf([tracked('a', 1), tracked('b', 2)]), positions: [10n, 20n] };
  const shown = (...brands: readonly (readonly [string, number])[]) =>
    new Map<string, ShownBrand>(
      brands.map(([brand, ms]) => [brand, { cadence: 'daily', created_at: time(ms) }]),
    );
  const read = (sentMs: number, brands: ReturnType<typeof shown>): Read => ({
    caller: 0,
    sentMs: AT + sentMs,
    endedMs: AT + sentMs + 1,
    shown: brands,
  });
  const own = { ...track('a', [0, 5], 1), position: 10n };
  const reasons = (reads: readonly Read[], writes: readonly Write[] = []) =>
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
});
