import { describe, expect, test } from 'vitest';
import { followLog } from '#platform/event-store/catch-up-subscription.ts';
import { createBreaker } from '#platform/event-store/answer-time.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openReads } from '#platform/event-store/reads.ts';
import { openRenewableClient } from '#platform/event-store/renewable-client.ts';
import { EventStoreSilent } from '#platform/event-store/errors.ts';
import { startFaultProxy } from '#tests/faults/fault-proxy.ts';
import { caughtUp, confirmation, eventAt, type ReadCall, startStubServer } from './stub-server.ts';

const SILENT_MS = 150;
const LONG_MS = 30_000;
const OPTIONS = { after: null, prefixes: ['test-'], bufferItems: 100 } as const;

/** Server that says that it has caught up, and then nothing. */
const startMute = () => {
  const subscriptions: ReadCall[] = [];
  return startStubServer({
    onRead: (call, options) => {
      if (!options.hasSubscription()) return void call.end();
      subscriptions.push(call);
      call.write(confirmation());
      call.write(eventAt(100n));
      call.write(caughtUp());
      return undefined;
    },
  });
};

describe('a subscription that hears nothing', () => {
  test.each([
    ['ends when the log went on without it', true],
    ['waits while nothing is owed to it', false],
  ])('%s', async (_, owed) => {
    await using server = await startMute();
    const asked: (bigint | null)[] = [];
    await using follower = followLog(server.url, OPTIONS, {
      silentMs: SILENT_MS,
      isOwed: async (position) => {
        asked.push(position);
        return owed && position !== null;
      },
    });
    const next = (async () => {
      for (;;) if ((await follower.take(10)).length === 0) return;
    })();
    next.catch(() => undefined);
    await expect
      .poll(() => asked.filter((position) => position === 100n).length, { timeout: LONG_MS })
      .toBeGreaterThan(owed ? 0 : 1);
    if (owed) await expect(next).rejects.toThrow(EventStoreSilent);
  });
});

test('a subscription looks for itself what is owed to it', async () => {
  let head = 100n;
  await using server = await startStubServer({
    onRead: (call, options) => {
      if (options.hasSubscription()) return void call.write(confirmation());
      call.write(eventAt(head, 'other-1'));
      call.write(eventAt(50n, head > 100n ? 'test-2' : 'other-1'));
      call.end();
      return undefined;
    },
  });
  await using store = openEventStore(server.url);
  await using reads = openReads(server.url, null, createBreaker());
  expect(await reads.isOwed(null, ['test-'])).toBe(false);
  head = 200n;
  expect(await reads.isOwed(100n, ['test-'])).toBe(false);
  expect(await reads.isOwed(40n, ['test-'])).toBe(true);
  expect(await store.head()).toBe(200n);
});

test('reads and each subscription have a connection, and a new client another one', async () => {
  await using server = await startMute();
  await using proxy = await startFaultProxy({ host: '127.0.0.1', port: server.port });
  const url = `esdb://127.0.0.1:${proxy.port}?tls=false`;
  await using reading = openRenewableClient(url);
  const read = async (): Promise<void> => {
    for await (const _ of reading.current().readAll({ maxCount: 1 }));
  };
  await read();
  const followers = [followLog(url, OPTIONS), followLog(url, OPTIONS)];
  for (const follower of followers) await follower.take(10);
  expect(proxy.connections()).toBe(3);
  await Promise.all(followers.map((follower) => follower[Symbol.asyncDispose]()));
  await expect.poll(() => proxy.connections(), { timeout: LONG_MS }).toBe(1);
  reading.renew(reading.current());
  await read();
  await expect.poll(() => proxy.connections(), { timeout: LONG_MS }).toBe(1);
});

test('looks that get no answer replace their connection, so that one that is dead heals', async () => {
  await using server = await startStubServer({
    onRead: (call) => {
      call.write(eventAt(100n));
      call.end();
    },
  });
  await using proxy = await startFaultProxy({ host: '127.0.0.1', port: server.port });
  await using reads = openReads(`esdb://127.0.0.1:${proxy.port}?tls=false`, null, createBreaker(), SILENT_MS);
  expect(await reads.isOwed(null, ['test-'])).toBe(true);
  proxy.halfOpen();
  await expect.poll(() => reads.isOwed(null, ['test-']), { timeout: LONG_MS }).toBe(true);
});
