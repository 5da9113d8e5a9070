import { expect, test } from 'vitest';
import {
  BUFFER_BYTES_MAX,
  type Followed,
  type Follower,
  followLog,
} from '#platform/event-store/catch-up-subscription.ts';
import { eventAt, startStubServer } from './stub-server.ts';

const MEBIBYTE = 1024 * 1024;
const EVENTS = 40;
/** Messages that the client holds before a reader takes them, and those on their way. */
const ON_THE_WAY = 20;

const largeEvent = (revision: number) => {
  const answer = eventAt(BigInt(revision + 1));
  answer
    .getEvent()
    ?.getEvent()
    ?.setStreamRevision(String(revision))
    .setData(Buffer.from(JSON.stringify({ text: 'a'.repeat(MEBIBYTE) })));
  return answer;
};

const followLargeEvents = async (
  resources: AsyncDisposableStack,
): Promise<{ readonly follower: Follower; readonly sent: () => number }> => {
  let sent = 0;
  const server = resources.use(
    await startStubServer({
      onRead: (call) => {
        const send = (revision: number): void => {
          if (revision === EVENTS) return;
          call.write(largeEvent(revision), () => {
            sent += 1;
            send(revision + 1);
          });
        };
        send(0);
      },
    }),
  );
  const options = { after: null, prefixes: ['test-'], bufferItems: EVENTS };
  return { follower: resources.use(followLog(server.url, options)), sent: () => sent };
};

const revisionsOf = (items: readonly Followed[]): readonly number[] =>
  items.flatMap((item) => (item.kind === 'event' ? [Number(item.event.revision)] : []));

test('a subscription buffers a limited number of bytes and delivers every event once', async () => {
  await using resources = new AsyncDisposableStack();
  const { follower, sent } = await followLargeEvents(resources);
  const buffered = BUFFER_BYTES_MAX / MEBIBYTE;
  const revisions: number[] = [];
  while (revisions.length < EVENTS) {
    revisions.push(...revisionsOf(await follower.take(1)));
    expect(sent() - revisions.length).toBeLessThanOrEqual(buffered + ON_THE_WAY);
  }
  expect(revisions).toEqual(Array.from({ length: EVENTS }, (_, index) => index));
});

test('a taken batch has at most the requested bytes, but at least one item', async () => {
  await using resources = new AsyncDisposableStack();
  const { follower, sent } = await followLargeEvents(resources);
  // More than the follower holds: its buffer is full.
  await expect.poll(sent, { timeout: 30_000 }).toBeGreaterThan(BUFFER_BYTES_MAX / MEBIBYTE + 4);
  await follower.take(1);
  expect(revisionsOf(await follower.take(EVENTS, 4 * MEBIBYTE))).toEqual([1, 2, 3]);
  expect(revisionsOf(await follower.take(EVENTS, 1))).toEqual([4]);
  expect(revisionsOf(await follower.take(2, EVENTS * MEBIBYTE))).toEqual([5, 6]);
});
