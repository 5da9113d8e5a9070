import { expect, test } from 'vitest';
import type { Followed } from '#platform/event-store/catch-up-subscription.ts';
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
