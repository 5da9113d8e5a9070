import { expect, test } from 'vitest';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { createSharedReader, type Reading } from '#services/projector/rebuild/shared-read.ts';
import { recorded } from '#tests/dsl/projections.ts';

const EVENTS = recorded(
  Array.from({ length: 3 }, () => ({ stream: 'test-1', event: { type: 'Counted', data: {} } })),
).map((event): Followed => ({ kind: 'event', event, bytes: 1 }));

/** Counts the subscriptions to a log of three events. */
const countingStore = () => {
  let follows = 0;
  return {
    follows: () => follows,
    follow: () => {
      follows += 1;
      const items: Followed[] = [...EVENTS, { kind: 'caught_up' }];
      return {
        take: async () => items.splice(0, 2),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
};

const readingOf = (counts: number[]): Reading => ({
  after: 0n,
  to: null,
  prefixes: ['test-'],
  signal: new AbortController().signal,
  apply: async (events) => {
    counts.push(events.length);
  },
});

test('readings share one pass, also when the tables of one take longer to open than the others wait', async () => {
  const store = countingStore();
  const reader = createSharedReader(store);
  const counts: number[] = [];
  const opened = Promise.withResolvers<undefined>();
  const slow = reader.prepare(() => opened.promise).then(() => reader.read(readingOf(counts)));
  const early = reader.read(readingOf(counts));
  setTimeout(() => opened.resolve(undefined), 1_500);
  await Promise.all([slow, early]);
  expect(counts).toEqual([3, 3]);
  expect(store.follows()).toBe(1);
});

test('a reading whose tables cannot be opened does not hold up the pass of the others', async () => {
  const store = countingStore();
  const reader = createSharedReader(store);
  const counts: number[] = [];
  const failed = reader.prepare(() => Promise.reject(new Error('no place for the tables')));
  await expect(failed).rejects.toThrow('no place');
  await reader.read(readingOf(counts));
  expect(counts).toEqual([3]);
});
