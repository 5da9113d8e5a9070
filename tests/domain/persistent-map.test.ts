import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PersistentMap } from '#domain/persistent-map.ts';

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
    { numRuns: 50 },
  );
});
