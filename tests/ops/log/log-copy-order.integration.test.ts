import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { type EncodedEvent, openAppendStream } from '#platform/event-store/append-stream.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { type LogSource, copyLog, serverSource } from '#services/ops/log/transfer.ts';
import { startFaultProxy } from '#tests/faults/fault-proxy.ts';
import { compare, createStores, eventsOf, untilEnd } from './stores.ts';

/** A copy that is interrupted must have no holes: only then can the next one continue it. */

const LONG_MS = 180_000;
/** So large that more appends wait than the connection carries at a time. */
const LARGE_BYTES = 150_000;
const LARGE_STREAMS = 60;
/** The target may have up to 64 appends at each reset whose answers are lost, and those are not counted as copied. */
const LARGE_EVENTS = 260;
/** Numbers of copied events after which the connection is reset. */
const RESETS = [10, 20, 30, 40];
/** Milliseconds in which sent appends are held before they are lost. */
const LOSING_MS = 300;

const stores = createStores();
afterAll(() => stores[Symbol.asyncDispose]());

/** Bytes that a server counts of an event: those of its data and metadata, and two for each character of its type. */
const countedBytes = ({ type, data, metadata }: EncodedEvent): number =>
  data.length + metadata.length + 2 * type.length;

const encoded = (bytes: number) => ({
  id: randomUUID(),
  type: 'Large',
  contentType: 'application/json',
  data: Buffer.from(JSON.stringify(randomBytes(bytes / 2).toString('hex'))),
  metadata: Buffer.from('{}'),
});

const fillLarge = async (url: string): Promise<void> => {
  await using appends = openAppendStream(url);
  for (let event = 0; event < LARGE_EVENTS; event += 1) {
    const stream = `large-${event % LARGE_STREAMS}`;
    const expected = BigInt(Math.floor(event / LARGE_STREAMS)) - 1n;
    await appends.append({ stream, expected, events: [encoded(LARGE_BYTES)] }, LONG_MS);
  }
};

describe('a copy has no holes', { timeout: LONG_MS }, () => {
  test('when its connection is reset again and again, with appends on their way and waiting', async () => {
    const [source, target] = [await stores.start(), await stores.start()];
    await fillLarge(source);
    const { hostname: host, port } = new URL(target);
    await using proxy = await startFaultProxy({ host, port: Number(port) });
    const [from, to] = [stores.open(source), stores.open(`esdb://127.0.0.1:${proxy.port}?tls=false`)];
    const resets = [...RESETS];
    let isLosing = false;
    const loseSent = async (): Promise<void> => {
      isLosing = true;
      proxy.set('mute');
      await delay(LOSING_MS);
      proxy.reset();
      proxy.set('pass');
      isLosing = false;
    };
    await copyLog(
      serverSource(from),
      to,
      ({ copied }) => {
        if (isLosing || copied < (resets[0] ?? Number.POSITIVE_INFINITY)) return;
        resets.shift();
        void loseSent();
      },
      untilEnd(),
    );
    expect(resets).toEqual([]);
    expect(await compare(from, to)).toMatchObject({ isEqual: true });
  });

  test('when the target refuses an event as too large: it ends right before this event', async () => {
    const small = (stream: string, revision: bigint, position: bigint): RawEvent => ({
      ...encoded(100),
      stream,
      revision,
      position,
      at: '2026-05-01T08:00:00.000Z',
    });
    const before = Array.from({ length: 40 }, (_, index) => small(`a-${index}`, 0n, BigInt(index + 1)));
    const tooLarge = { ...small('large-1', 0n, 100n), ...encoded(1_200_000) };
    const after = Array.from({ length: 200 }, (_, index) => small(`b-${index}`, 0n, BigInt(index + 101)));
    const source: LogSource = {
      after: async function* () {
        yield* [...before, tooLarge, ...after];
      },
      shareDone: () => null,
    };
    const target = await stores.empty();
    const copying = copyLog(source, target, () => undefined, untilEnd());
    await expect(copying).rejects.toThrow(/large-1 0 has \d+ bytes.*it continues from here/);
    expect((await eventsOf(target)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test('when an append has more bytes than the target has taken so far: it is the only one on its way', async () => {
    const MANY = 256;
    const at = '2026-05-01T08:00:00.000Z';
    const many = Array.from({ length: MANY }, (_, index) => ({
      ...encoded(2_800),
      stream: 'many-1',
      revision: BigInt(index),
      position: BigInt(index + 1),
      at,
    }));
    const single = (stream: string, bytes: number, position: bigint): RawEvent => ({
      ...encoded(bytes),
      stream,
      revision: 0n,
      position,
      at,
    });
    // It has more bytes than the events of `many-1` without their framing, and fewer than with it.
    const large = single('large-1', 760_000, 1_000n);
    const events = [...many, single('a-1', 100, 999n), large, single('b-1', 100, 1_001n)];
    const source: LogSource = {
      after: async function* () {
        yield* events;
      },
      shareDone: () => null,
    };
    const onTheirWay: number[] = [];
    let takenBytes = 0;
    /** For each append that began while one with more bytes than any before was on its way: the number of others. */
    const others: number[] = [];
    const nothing = async function* (): AsyncGenerator<RawEvent> {};
    const target: RawLog = {
      forwards: nothing,
      backwards: nothing,
      at: async () => null,
      find: async () => null,
      stream: nothing,
      openWriter: () => ({
        append: async (_stream, first, copies) => {
          const bytes = copies.reduce((sum, copy) => sum + countedBytes(copy), 0);
          onTheirWay.push(bytes);
          if (Math.max(...onTheirWay) > takenBytes) others.push(onTheirWay.length - 1);
          await nextTurn();
          onTheirWay.shift();
          takenBytes = Math.max(takenBytes, bytes);
          return { revision: first + BigInt(copies.length) - 1n, position: 0n };
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    };
    expect(await copyLog(source, target, () => undefined, untilEnd())).toBe(events.length);
    expect(others).toEqual([0, 0]);
  });
});
