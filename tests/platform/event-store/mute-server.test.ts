import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { BrandRegistered } from '#contracts/events/corpus/brand.ts';
import { createCommandHandler, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type { Decider } from '#domain/decider.ts';
import { toOverload } from '#operations/endpoint/overload.ts';
import { pause } from '#platform/clock.ts';
import { TimeUsedUp, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { createBreaker } from '#platform/event-store/answer-time.ts';
import { EventStoreSilent } from '#platform/event-store/errors.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { eventAt, startStubServer } from './stub-server.ts';

const METADATA = eventMetadata({ actor: serviceActor('tests'), correlationId: 'c', causationId: 'c' });

const openMute = async (): Promise<AsyncDisposable & { readonly url: string; readonly address: string }> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `esdb://${address}?tls=false`,
    address,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('all waits of a command for a mute server end in the time of one, also behind others of its stream', async () => {
  const ANSWER_MS = 1_600;
  /** Commands of one stream: each reads before it appends, and waits for the others. */
  const COMMANDS = 20;
  await using server = await openMute();
  await using store = openEventStore(server.url, { answerWithinMs: ANSWER_MS });
  const handler = createCommandHandler(store);
  const decider: Decider<number, BrandRegistered> = { initial: 0, evolve: (count) => count + 1 };
  const run = (stream: string) =>
    withTimeBudget(20_000, async () => {
      const since = performance.now();
      const outcome = await handler
        .execute({
          stream,
          decider,
          decision: () => [],
          metadata: METADATA,
          commandId: randomUUID(),
          mayRepeat: false,
        })
        .catch((error: unknown) => toOverload(error));
      expect(outcome).toMatchObject({ code: 'overloaded' });
      return performance.now() - since;
    });
  const waits = await Promise.all(Array.from({ length: COMMANDS }, () => run('brand-a')));
  expect(Math.max(...waits)).toBeLessThan(2 * ANSWER_MS);
  // The silence is known by now.
  expect(await run('brand-b')).toBeLessThan(ANSWER_MS / 2);
});

test('a request that comes late to the event store has a part of its time left, and one that is early all of it', async () => {
  const ANSWER_MS = 2_000;
  await using server = await openMute();
  await using store = openEventStore(server.url, { answerWithinMs: ANSWER_MS });
  const waitOf = (lateMs: number): Promise<number> =>
    withTimeBudget(20_000, async () => {
      await pause(lateMs);
      const since = performance.now();
      await expect(store.last('brand-a')).rejects.toThrow(/did not answer|time of the request/);
      return performance.now() - since;
    });
  const [early, late] = await Promise.all([waitOf(0), waitOf(1_900)]);
  expect(early).toBeGreaterThan(0.9 * ANSWER_MS);
  expect(late).toBeGreaterThan(ANSWER_MS / 4 - 50);
  expect(late).toBeLessThan(ANSWER_MS / 2 + 400);
});

test('a read in progress fails when the connection is replaced because of others, and does not seem to be at its end', async () => {
  const SILENCE_MS = 400;
  await using server = await openMute();
  await using store = openEventStore(server.url, { readSilenceMs: SILENCE_MS });
  // Three silent calls replace the client.
  const others = Array.from({ length: 3 }, () => store.last('brand-a').catch((error: unknown) => error));
  await pause(SILENCE_MS / 2);
  const reads = [
    store.last('brand-b'),
    store.head(),
    store.load('brand-b', { initial: 0, evolve: (count: number) => count + 1 }),
  ];
  for (const read of await Promise.allSettled(reads))
    expect(read).toMatchObject({ status: 'rejected', reason: { name: 'ReadCutOff' } });
  for (const error of await Promise.all(others)) expect(error).toBeInstanceOf(EventStoreSilent);
});

test('a read of a request ends with its time, also by a timer that is early', async () => {
  await using server = await openMute();
  await using store = openEventStore(server.url);
  const reads = Array.from({ length: 60 }, (_, n) =>
    withTimeBudget(100 + n / 7, () => store.last('brand-a')).catch((error: unknown) => error),
  );
  for (const error of await Promise.all(reads)) expect(error).toBeInstanceOf(TimeUsedUp);
});

test('calls that fail together are refused for a second, and for longer after further ones', () => {
  let nowMs = 0;
  const breaker = createBreaker(() => nowMs);
  const failAll = (count: number): void => {
    for (let call = 0; call < count; call += 1) breaker.failed(new EventStoreSilent(1));
  };
  const refusal = /it did not answer \d+ times in a row/;
  failAll(20);
  expect(() => breaker.check()).toThrow(refusal);
  nowMs = 1_000;
  breaker.check();
  failAll(20);
  nowMs = 2_900;
  expect(() => breaker.check()).toThrow(refusal);
  nowMs = 3_000;
  breaker.check();
  breaker.succeeded();
  failAll(4);
  breaker.check();
});

test('a read of a whole log ends when nothing arrives, also before the connection is made', async () => {
  await using mute = await openMute();
  const log = openRawLog(mute.url, 300);
  for (const read of [log.forwards(null), log.backwards(null)]) {
    await expect(read.next()).rejects.toThrow(EventStoreSilent);
  }
  await expect(log.at(1n)).rejects.toThrow(EventStoreSilent);
});

test('a read of a whole log ends when no node of its cluster says where to read', async () => {
  await using former = await openMute();
  await using other = await openMute();
  const log = openRawLog(`esdb://${former.address},${other.address}?tls=false`, 300);
  await expect(log.forwards(null).next()).rejects.toThrow(EventStoreSilent);
  await expect(log.at(1n)).rejects.toThrow(EventStoreSilent);
});

test('a read of a whole log goes on while its reader is slow, and ends when the server stops under way', async () => {
  const SILENCE_MS = 300;
  await using server = await startStubServer({
    onRead: (call) => {
      for (let position = 1n; position <= 3n; position += 1n) call.write(eventAt(position));
    },
  });
  const events = openRawLog(server.url, SILENCE_MS).forwards(null);
  for (let position = 1n; position <= 3n; position += 1n) {
    expect((await events.next()).value).toMatchObject({ position });
    await pause(2 * SILENCE_MS);
  }
  await expect(events.next()).rejects.toThrow(EventStoreSilent);
});
