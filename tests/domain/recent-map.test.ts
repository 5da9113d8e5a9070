import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from '#domain/persistent-map.ts';
import { runs } from '#tests/property-seed.ts';

const KEPT = 5;
const key = fc.integer({ min: 0, max: 20 }).map(String);
const change = fc.record({ key, value: fc.option(fc.nat()), isRemoval: fc.boolean() });

test('RecentMap holds the newest entries, and at most twice as many as it must', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
      // Insertion order makes the last entries the newest. Removed ones stay as `undefined`.
      const all = new Map<string, number | null | undefined>();
      let map = RecentMap.empty<number | null>(KEPT);
      for (const { key: at, value, isRemoval } of changes) {
        map = isRemoval ? map.without(at) : map.with(at, value);
        if (!isRemoval) all.delete(at);
        if (!isRemoval || all.has(at)) all.set(at, isRemoval ? undefined : value);
        const newest = [...all].slice(-KEPT).filter(([, of]) => of !== undefined);
        expect(newest.map(([one]) => [one, map.get(one)])).toEqual(newest);
        expect(newest.every(([one]) => map.has(one))).toBe(true);
        for (const [one, of] of map) expect(all.get(one)).toBe(of);
        expect([[...map].length, map.has(at)]).toEqual([map.size, !isRemoval]);
        expect(map.size).toBeLessThanOrEqual(2 * KEPT);
        const restored = RecentMap.fromJson<number | null>(KEPT, JSON.parse(JSON.stringify(map.toJson())));
        expect([...restored]).toEqual([...map]);
      }
    }),
    { numRuns: runs(50) },
  );
});
