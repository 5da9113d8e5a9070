import { expect, test } from 'vitest';
import { createPlaces } from '#platform/concurrency/queues.ts';

const REFUSED = new Error('no place');

const placesOf = (max: number) =>
  createPlaces({
    max,
    perKey: 1,
    waiting: { max: 64, perKey: 8, timeoutMs: () => 60_000 },
    refuse: () => REFUSED,
  });

test('work of a key waits behind that of the keys that waited meanwhile', async () => {
  const places = placesOf(1);
  const order: string[] = [];
  const work = (key: string): Promise<unknown> =>
    places.run(key, async () => {
      order.push(key);
      await Promise.resolve();
    });
  const busy = Array.from({ length: 5 }, () => work('busy'));
  await Promise.all([...busy, work('one'), work('other'), work('one')]);
  expect(order).toEqual(['busy', 'one', 'other', 'busy', 'one', 'busy', 'busy', 'busy']);
});

test('a key at its limit lets others pass, and no more work waits than is allowed', async () => {
  const places = placesOf(2);
  const free = [places.take('busy'), places.take('other')];
  const waiting = Array.from({ length: 8 }, () => places.enter('busy'));
  await expect(places.enter('busy')).rejects.toBe(REFUSED);
  free[1]?.();
  expect(places.take('busy')).toBeNull();
  const freeThird = places.take('third');
  expect(freeThird).not.toBeNull();
  freeThird?.();
  free[0]?.();
  for (const one of waiting) (await one)();
});
