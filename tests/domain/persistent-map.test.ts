import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PersistentMap } from '#domain/persistent-map.ts';
import { runs } from '#tests/property-seed.ts';

const key = fc.integer({ min: 0, max: 300 }).map(String);
const change = fc.record({ key, value: fc.option(fc.nat()) });
const sorted = <T>(entries: Iterable<readonly [string, T]>) =>
  [...entries].toSorted(([one], [other]) => Number(one) - Number(other));

test('PersistentMap behaves like a Map, and a change leaves earlier versions unchanged', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const model = new Map<string, number>();
      let map = PersistentMap.empty<number>();
      for (const { key: at, value } of changes) {
        const before = map;
        const entriesBefore = [...before];
        map = value === null ? map.without(at) : map.with(at, value);
        if (value === null) model.delete(at);
        else model.set(at, value);
        expect([...before]).toEqual(entriesBefore);
        expect([map.has(at), map.get(at), map.size]).toEqual([model.has(at), model.get(at), model.size]);
      }
      expect(sorted(map)).toEqual(sorted(model));
    }),
    { numRuns: runs(50) },
  );
});

test('PersistentMap restored from JSON behaves like the one that was encoded', () => {
  const kept = fc.record({
    changes: fc.array(change, { maxLength: 200 }),
    read: fc.array(key, { maxLength: 5 }),
  });
  const apply = (map: PersistentMap<number>, { key: at, value }: { key: string; value: number | null }) =>
    value === null ? map.without(at) : map.with(at, value);
  fc.assert(
    fc.property(kept, fc.array(change, { maxLength: 20 }), ({ changes, read }, later) => {
      const map = changes.reduce(apply, PersistentMap.empty<number>());
      const restored = PersistentMap.fromJson<number>(JSON.parse(JSON.stringify(map.toJson())));
      expect(read.map((at) => restored.get(at))).toEqual(read.map((at) => map.get(at)));
      expect(restored.toJson()).toEqual(map.toJson());
      const [one, other] = [later.reduce(apply, map), later.reduce(apply, restored)];
      expect([[...other], other.size, other.toJson()]).toEqual([[...one], one.size, one.toJson()]);
      expect(other).toEqual(one);
    }),
    { numRuns: runs(50) },
  );
});

test('PersistentMap distinguishes keys with equal hashes', () => {
  // `Aa` and `BB` have the same hash, and so have all texts of them.
  const keys = Array.from({ length: 64 }, (_, number) =>
    Array.from({ length: 6 }, (_unused, bit) => ((number >> bit) & 1 ? 'Aa' : 'BB')).join(''),
  );
  let map = PersistentMap.empty<number>();
  for (const [value, at] of keys.entries()) map = map.with(at, value);
  for (const at of keys.slice(0, 32)) map = map.without(at);
  expect(map.size).toBe(32);
  expect(keys.map((at) => map.get(at))).toEqual(keys.map((_, value) => (value < 32 ? undefined : value)));
  expect([...map].map(([at]) => at)).toEqual(keys.slice(32));
});

test('PersistentMap holds 200,000 entries, each added by one change', () => {
  const ENTRIES = 200_000;
  let map = PersistentMap.empty<number>();
  for (let number = 0; number < ENTRIES; number += 1) map = map.with(`key ${number}`, number);
  expect(map.size).toBe(ENTRIES);
  expect(new Set([...map].map(([, number]) => number)).size).toBe(ENTRIES);
  expect(map.get('key 123456')).toBe(123_456);
});
