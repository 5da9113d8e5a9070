import { Readable } from 'node:stream';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import {
  BUFFER_BYTES_MAX,
  type Followed,
  type Follower,
  followLog,
} from '#platform/event-store/catch-up-subscription.ts';

const MEBIBYTE = 1024 * 1024;
const EVENTS = 100;

const followLargeEvents = (): { readonly follower: Follower; readonly read: () => number } => {
  let read = 0;
  const text = 'a'.repeat(MEBIBYTE);
  const event = (revision: number) => ({
    event: {
      type: 'Unknown',
      data: { text },
      streamId: 'test-1',
      revision: BigInt(revision),
      position: { commit: BigInt(revision + 1), prepare: 0n },
      created: new Date(0),
      id: String(revision),
      metadata: { schema_version: 1 },
    },
  });
  const source = function* () {
    for (; read < EVENTS; ) yield event(read++);
  };
  const subscription = Object.assign(Readable.from(source(), { highWaterMark: 1 }), {
    unsubscribe: () => Promise.resolve(),
  });
  const client = { subscribeToAll: () => subscription } as unknown as EventStoreDBClient;
  return {
    follower: followLog(client, { after: null, prefixes: [], bufferItems: EVENTS }),
    read: () => read,
  };
};

const revisionsOf = (items: readonly Followed[]): readonly number[] =>
  items.flatMap((item) => (item.kind === 'event' ? [Number(item.event.revision)] : []));

test('a subscription buffers a limited number of bytes and delivers every event once', async () => {
  const { follower, read } = followLargeEvents();
  const buffered = BUFFER_BYTES_MAX / MEBIBYTE;
  const revisions: number[] = [];
  while (revisions.length < EVENTS) {
    revisions.push(...revisionsOf(await follower.take(1)));
    expect(read() - revisions.length).toBeLessThanOrEqual(buffered + 2);
  }
  expect(revisions).toEqual(Array.from({ length: EVENTS }, (_, index) => index));
});

test('a taken batch has at most the requested bytes, but at least one item', async () => {
  const { follower } = followLargeEvents();
  await follower.take(1);
  expect(revisionsOf(await follower.take(EVENTS, 4 * MEBIBYTE))).toEqual([1, 2, 3]);
  expect(revisionsOf(await follower.take(EVENTS, 1))).toEqual([4]);
  expect(revisionsOf(await follower.take(2, EVENTS * MEBIBYTE))).toEqual([5, 6]);
});
