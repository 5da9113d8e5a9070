import { describe, expect, test } from 'vitest';
import { pause } from '#platform/clock.ts';
import { type Followed, createCheckpointGuard } from '#platform/event-store/catch-up-subscription.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { READS_MAX } from '#platform/event-store/reads.ts';
import { isTooOld, requireSupportedServer } from '#platform/event-store/server-version.ts';
import {
  caughtUp,
  checkpointAt,
  confirmation,
  eventAt,
  type ReadCall,
  type StubAnswers,
  startStubServer,
} from './stub-server.ts';

const LONG_MS = 30_000;
/** Largest number of 64 bits, which old servers send as a checkpoint. */
const ALL_ONES = 2n ** 64n - 1n;

const take = async (
  onRead: NonNullable<StubAnswers['onRead']>,
  until: (items: readonly Followed[]) => boolean,
): Promise<readonly Followed[]> => {
  await using server = await startStubServer({ onRead });
  await using store = openEventStore(server.url);
  await using follower = store.follow({ after: null, prefixes: ['test-'], bufferItems: 100 });
  const items: Followed[] = [];
  while (!until(items)) items.push(...(await follower.take(100)));
  return items;
};

describe('checkpoints of old servers', () => {
  test('that are none are ignored, and no event is lost', async () => {
    const items = await take(
      (call) => {
        const recorded = [
          confirmation(),
          eventAt(100n),
          checkpointAt(200n),
          // Before 24.10.5: going live, on an empty page, and in a transaction.
          checkpointAt(ALL_ONES),
          checkpointAt(400n, 350n),
          checkpointAt(150n),
          eventAt(300n),
          checkpointAt(ALL_ONES, 300n),
          checkpointAt(500n),
          caughtUp(),
        ];
        for (const message of recorded) call.write(message);
      },
      (all) => all.some(({ kind }) => kind === 'caught_up'),
    );
    const seen = items.map((item) =>
      item.kind === 'event' ? item.event.position : item.kind === 'checkpoint' ? -item.position : 0n,
    );
    expect(seen).toEqual([100n, -200n, 300n, -500n, 0n]);
  });

  test('below the position to start after do not count', () => {
    const guard = createCheckpointGuard(1_000n);
    expect(guard.accepts({ commit: 999n, prepare: 999n })).toBe(false);
    expect(guard.accepts({ commit: 1_000n, prepare: 1_000n })).toBe(true);
    guard.passed(2_000n);
    expect(guard.accepts({ commit: 1_500n, prepare: 1_500n })).toBe(false);
    expect(guard.accepts({ commit: 2n ** 63n, prepare: 2n ** 63n })).toBe(false);
    expect(guard.last()).toBe(2_000n);
  });
});

describe('the release of the server', () => {
  test.each([
    ['24.10.4', true],
    ['24.10.5', false],
    ['24.10.14', false],
    ['23.10.9', true],
    ['24.6.0', true],
    ['25.0.0', true],
    ['25.0.1', false],
    ['25.1', false],
    ['26.1.0-rc.2', false],
    ['v24.2', true],
    ['unknown', false],
  ])('%s is too old: %s', (version, expected) => {
    expect(isTooOld(version)).toBe(expected);
  });

  test('is asked for, and an old one is refused with what to do', async () => {
    await using fresh = await startStubServer({ version: '24.10.5' });
    await requireSupportedServer(fresh.url);
    await using old = await startStubServer({ version: '24.10.2' });
    await expect(requireSupportedServer(old.url)).rejects.toThrow(
      /runs release 24\.10\.2\. It must be EventStoreDB 24\.10\.5 or later, or KurrentDB 25\.0\.1 or later/,
    );
  });
});

test('the head is the position of our newest event, behind any number of events of the server', async () => {
  const isOurs = (position: bigint): boolean => position % 1_000n === 0n;
  await using server = await startStubServer({
    onRead: (call, options) => {
      const all = options.getAll();
      const before = all?.hasPosition() ? BigInt(all.getPosition()?.getCommitPosition() ?? 0) : 1_800n;
      for (let at = before - 1n; at > 0n && before - at <= BigInt(options.getCount()); at -= 1n) {
        call.write(eventAt(at, isOurs(at) ? 'test-1' : '$scavenges'));
      }
      call.end();
    },
  });
  await using store = openEventStore(server.url);
  expect(await store.head()).toBe(1_000n);
});

test('a limited number of reads is under way at a time', async () => {
  const open: ReadCall[] = [];
  await using server = await startStubServer({ onRead: (call) => void open.push(call) });
  await using store = openEventStore(server.url);
  const reads = Array.from({ length: READS_MAX + 6 }, () => store.last('test-1'));
  await expect.poll(() => open.length, { timeout: LONG_MS }).toBe(READS_MAX);
  for (const call of open.splice(0)) call.end();
  await expect.poll(() => open.length, { timeout: LONG_MS }).toBe(6);
  for (const call of open) call.end();
  expect(await Promise.all(reads)).toEqual(reads.map(() => null));
});

test('a read of background work that is not answered, or stops in the middle, ends with an error and without its end', async () => {
  await using server = await startStubServer({
    onRead: (call, options) => {
      const name = options.getStream()?.getStreamIdentifier()?.getStreamName_asU8() ?? [];
      if (Buffer.from(name).toString() === 'test-begun') call.write(eventAt(100n, 'test-begun'));
    },
  });
  await using store = openEventStore(server.url, { readSilenceMs: 300 });
  const readAll = async (stream: string): Promise<void> => {
    for await (const { position } of store.read(stream)) expect(position).toBe(100n);
  };
  for (const stream of ['test-silent', 'test-begun'])
    await expect(readAll(stream)).rejects.toThrow(/did not answer/);
  // A slow reader does not make the server silent.
  for await (const event of store.read('test-begun')) {
    expect(event.position).toBe(100n);
    await pause(700);
    break;
  }
});
