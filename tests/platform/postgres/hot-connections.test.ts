import type { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHotConnections, ReadsBusy } from '#platform/postgres/hot-connections.ts';
import { createStatementSpeed } from '#platform/postgres/statement-speed.ts';

/** Milliseconds of one read after which its connection takes no further ones. */
const BUSY_MS = 101;
/** Milliseconds after which a waiting read is refused. */
const REFUSED_MS = 2_001;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const create = (count: number) => {
  const writes: string[] = [];
  let opened = 0;
  const connections = createHotConnections(count, async () => {
    const name = opened;
    opened += 1;
    const stream = { cork: () => writes.push(`cork ${name}`), uncork: () => writes.push(`uncork ${name}`) };
    return { client: { name, connection: { stream } } as unknown as Client, send: (answer) => answer };
  });
  /** Starts a read. Returns its connection once it is sent, and a function that ends it. */
  const start = () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const sent = Promise.withResolvers<unknown>();
    const run = connections.run((client) => {
      sent.resolve((client as unknown as { name: number }).name);
      return promise;
    });
    return { sent: sent.promise, run, end: () => resolve('done') };
  };
  /** Ends the iteration of the event loop, after which reads choose a connection again. */
  const iterate = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1);
  return { connections, start, iterate, writes };
};

describe('the least busy connection', () => {
  test('takes the reads of one event-loop iteration in one write', async () => {
    const { connections, start, iterate, writes } = create(2);
    await connections.connect();
    const reads = [start(), start(), start()];
    expect(await Promise.all(reads.map(({ sent }) => sent))).toEqual([0, 0, 0]);
    await iterate();
    expect(writes).toEqual(['cork 0', 'uncork 0']);
    expect(await start().sent).toBe(1);
  });

  test('is another one while a read takes long', async () => {
    const { start, iterate } = create(2);
    const slow = start();
    expect(await slow.sent).toBe(0);
    await vi.advanceTimersByTimeAsync(BUSY_MS);
    for (let count = 0; count < 5; count += 1) {
      expect(await start().sent).toBe(1);
      await iterate();
    }
  });

  test('takes reads again once the slow read is answered', async () => {
    const { start, iterate } = create(1);
    const slow = start();
    await vi.advanceTimersByTimeAsync(BUSY_MS);
    const light = start();
    slow.end();
    await iterate();
    expect(await light.sent).toBe(0);
    light.end();
    await expect(light.run).resolves.toMatchObject({ answer: 'done' });
  });
});

test('a read is refused when no connection is free in time', async () => {
  const { start, iterate } = create(1);
  const slow = start();
  await vi.advanceTimersByTimeAsync(BUSY_MS);
  const refused = start().run.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(REFUSED_MS);
  expect(await refused).toBeInstanceOf(ReadsBusy);
  slow.end();
  await iterate();
  expect(await start().sent).toBe(0);
});

test('at most a thousand reads wait, and further ones are refused at once', async () => {
  const { start } = create(1);
  start();
  await vi.advanceTimersByTimeAsync(BUSY_MS);
  const waiting = Array.from({ length: 1_000 }, () => start().run.catch((error: unknown) => error));
  await expect(start().run).rejects.toBeInstanceOf(ReadsBusy);
  await vi.advanceTimersByTimeAsync(REFUSED_MS);
  expect((await Promise.all(waiting)).every((error) => error instanceof ReadsBusy)).toBe(true);
});

test('a statement is fast while most of its last runs are below 50 ms', () => {
  const speed = createStatementSpeed();
  const run = (ms: number, times: number): void => {
    for (let count = 0; count < times; count += 1) speed.ran('select 1', ms);
  };
  run(1, 2);
  expect(speed.isFast('select 1')).toBe(false);
  run(1, 1);
  expect(speed.isFast('select 1')).toBe(true);
  run(200, 2);
  expect(speed.isFast('select 1')).toBe(true);
  run(200, 20);
  expect(speed.isFast('select 1')).toBe(false);
  run(1, 11);
  expect(speed.isFast('select 1')).toBe(true);
  expect(speed.isFast('select 2')).toBe(false);
});
