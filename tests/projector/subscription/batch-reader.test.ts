import { expect, test } from 'vitest';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
import { pause } from '#platform/clock.ts';
import { BATCH_BYTES_MAX, createBatchReader } from '#services/projector/subscription.ts';
import { recorded } from '#tests/dsl/projections.ts';

const MEBIBYTE = 1024 * 1024;

/** A follower that returns the items in takes of one item, as a slow server does. */
const followerOf = (items: Followed[]) => ({
  take: async () => items.splice(0, 1),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

test('a batch of large events ends at its byte limit, and the next batch continues', async () => {
  const events = recorded(
    Array.from({ length: 40 }, () => ({ stream: 'test-1', event: { type: 'Large', data: {} } })),
  );
  const readBatch = createBatchReader(
    followerOf(events.map((event): Followed => ({ kind: 'event', event, bytes: MEBIBYTE }))),
  );
  const read: bigint[] = [];
  for (let batch = await readBatch(); batch !== null; batch = await readBatch()) {
    expect(batch.events.length).toBeLessThanOrEqual(BATCH_BYTES_MAX / MEBIBYTE);
    read.push(...batch.events.map(({ revision }) => revision));
    if (read.length === 32) break;
  }
  expect(read).toEqual(events.slice(0, 32).map(({ revision }) => revision));
});

test('live events that arrive soon after a batch share the next one, until an event of a request', async () => {
  const [first, second, third, awaited] = recorded(
    Array.from({ length: 4 }, () => ({ stream: 'test-1', event: { type: 'Small', data: {} } })),
  ).map((event): Followed => ({ kind: 'event', event, bytes: 1 }));
  if (!first || !second || !third || awaited?.kind !== 'event') throw new Error('four events expected');
  const { event } = awaited;
  const metadata = { ...event.metadata, actor: { kind: 'api_key', id: 'k' } } as const;
  const ofRequest: Followed = { ...awaited, event: { ...event, metadata } };
  const arriving: (readonly [items: readonly Followed[], afterMs: number])[] = [
    [[{ kind: 'caught_up' }, first], 0],
    [[second], 0],
    [[third], 5],
    [[ofRequest], 5],
  ];
  const readBatch = createBatchReader({
    take: async () => {
      const [items, afterMs] = arriving.shift() ?? [[], 0];
      await pause(afterMs);
      return items;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  expect((await readBatch())?.events).toHaveLength(1);
  // The batch takes a while to apply.
  await pause(50);
  expect((await readBatch())?.events).toEqual(
    [second, third, ofRequest].map((item) => item.kind === 'event' && item.event),
  );
});
