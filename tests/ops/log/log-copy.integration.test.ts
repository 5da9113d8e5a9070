import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toHistoryRecord } from '#contracts/audit/entry.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { copyLog, serverSource } from '#services/ops/log/transfer.ts';
import { compare, contentOf, copy, createStores, eventsOf, fill, STREAMS } from './stores.ts';

const LONG_MS = 60_000;
const ROUNDS = 40;

const stores = createStores();
let source: string;
let target: string;
beforeAll(async () => {
  [source, target] = [await stores.start(), await stores.start()];
  await fill(source, ROUNDS);
}, LONG_MS);
afterAll(() => stores[Symbol.asyncDispose]());

describe('a copy of a log', { timeout: LONG_MS }, () => {
  test('has every event in order, with ids, bytes and revisions, and is equal in every generation', async () => {
    const client = EventStoreDBClient.connectionString(source);
    await client.appendToStream('odd-1', [
      jsonEvent({ type: 'WithoutMetadata', data: { big: '9007199254740993' } }),
    ]);
    await client.dispose();
    const [from, to] = [stores.open(source), stores.open(target)];
    const events = await eventsOf(from);
    expect(await copy(from, to)).toBe(events.length);
    const copied = await eventsOf(to);
    expect(copied.map(contentOf)).toEqual(events.map(contentOf));
    const comparison = await compare(from, to);
    expect(comparison).toMatchObject({ isEqual: true, difference: null, differing: [] });
    expect(comparison.from).toEqual(comparison.to);
    expect(comparison.from.byStream?.size).toBe(STREAMS + 1);
    const second = await stores.empty();
    await copy(to, second);
    expect(await compare(from, second)).toMatchObject({ isEqual: true });
    expect(await copy(from, second)).toBe(0);
  });

  test('reads for the services as the log does: same times, metadata and history entries', async () => {
    await using original = openEventStore(source);
    await using copied = openEventStore(target);
    for (let stream = 0; stream < STREAMS; stream += 1) {
      const records = async (store: typeof original) => {
        const all = [];
        for await (const event of store.read(`trial-w+${stream}`)) {
          all.push({ record: toHistoryRecord(event), metadata: event.metadata, data: event.data });
        }
        return all;
      };
      expect(await records(copied)).toEqual(await records(original));
    }
  });

  test('continues where it ended, at any point, while the log grows', async () => {
    const growing = await stores.start();
    // More appends than are on their way at a time.
    await fill(growing, 100, 2);
    const [from, to] = [stores.open(growing), await stores.empty()];
    const copied: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const ending = new AbortController();
      const copying = copyLog(serverSource(from), to, () => ending.abort(), ending.signal);
      await fill(growing, 5);
      copied.push(await copying);
    }
    expect(copied[0]).toBeLessThan(200);
    await copy(from, to);
    expect(await compare(from, to)).toMatchObject({ isEqual: true });
    expect(await copy(from, to)).toBe(0);
  });

  test('is refused and changes nothing when the target holds another log', async () => {
    const other = await stores.start();
    await fill(other, 3);
    const [from, to] = [stores.open(source), stores.open(other)];
    const before = await eventsOf(to);
    await expect(copy(from, to)).rejects.toThrow(/The target is no copy of this log.*empty event store/s);
    expect(await eventsOf(to)).toEqual(before);
    expect(await compare(from, to)).toMatchObject({
      isEqual: false,
      difference: expect.stringMatching(/^event 1: /),
      differing: expect.arrayContaining([expect.objectContaining({ stream: 'trial-w+0' })]),
    });
  });

  test('is refused when something else wrote to the target', async () => {
    const [from, to] = [stores.open(source), stores.open(target)];
    await fill(target, 1);
    await expect(copy(from, to)).rejects.toThrow(/The target is no copy of this log/);
    expect(await compare(from, to)).toMatchObject({
      isEqual: false,
      difference: expect.stringContaining('the end of the log in the first log, Tried trial-w+0'),
      differing: [{ stream: 'trial-w+0', events: 0, eventsInTarget: 1 }],
    });
  });
});
