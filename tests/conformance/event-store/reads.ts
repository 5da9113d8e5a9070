import { type EventStoreDBClient, type Position, StreamNotFoundError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { failureOf, fill, idsOf, newEvents, newStream, readWhole, revisionsOf } from './support.ts';

type StreamOptions = NonNullable<Parameters<EventStoreDBClient['readStream']>[1]>;
type AllOptions = NonNullable<Parameters<EventStoreDBClient['readAll']>[0]>;

export function readCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = adapter.connect();
  });
  afterAll(() => client.dispose());

  async function revisions(stream: string, options: StreamOptions): Promise<number[]> {
    const found: number[] = [];
    for await (const { event } of client.readStream(stream, options)) found.push(Number(event?.revision));
    return found;
  }

  async function ids(options: AllOptions): Promise<string[]> {
    const found: string[] = [];
    for await (const { event } of client.readAll(options)) found.push(event?.id ?? '');
    return found;
  }

  describe('reading a stream', () => {
    test('includes the start revision, forwards and backwards', async () => {
      const stream = newStream();
      await fill(client, stream, 6);
      expect(await revisions(stream, {})).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await revisions(stream, { fromRevision: 4n })).toEqual([4, 5]);
      expect(await revisions(stream, { fromRevision: 2n, direction: 'backwards' })).toEqual([2, 1, 0]);
      expect(await revisions(stream, { fromRevision: 'end', direction: 'backwards' })).toEqual([
        5, 4, 3, 2, 1, 0,
      ]);
      expect(await revisions(stream, { fromRevision: 'start', direction: 'backwards' })).toEqual([0]);
    });

    test('stops at the requested number of events', async () => {
      const stream = newStream();
      await fill(client, stream, 6);
      expect(await revisions(stream, { maxCount: 2 })).toEqual([0, 1]);
      expect(await revisions(stream, { maxCount: 1, fromRevision: 'end', direction: 'backwards' })).toEqual([
        5,
      ]);
      expect(await revisions(stream, { maxCount: 100, fromRevision: 3n })).toEqual([3, 4, 5]);
    });

    test('returns nothing beyond the end', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      expect(await revisions(stream, { fromRevision: 5n })).toEqual([]);
      expect(await revisions(stream, { fromRevision: 2n })).toEqual([]);
      expect(await revisions(stream, { fromRevision: 5n, direction: 'backwards' })).toEqual([1, 0]);
    });

    test('refuses to read a stream forwards from the end', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      await expect(revisions(stream, { fromRevision: 'end' })).rejects.toThrow('Unexpected ReadStreamResult');
    });

    test('returns a stream of many pages whole and in order', async () => {
      const stream = newStream();
      for (let round = 0; round < 3; round += 1) await client.appendToStream(stream, newEvents(500));
      const all = Array.from({ length: 1_500 }, (_, revision) => revision);
      expect(revisionsOf(await readWhole(client, stream))).toEqual(all);
      expect(await revisions(stream, { fromRevision: 'end', direction: 'backwards' })).toEqual(
        all.toReversed(),
      );
    });

    test('fails with stream not found when the stream does not exist', async () => {
      const stream = newStream();
      const error = await failureOf(readWhole(client, stream));
      expect(error).toBeInstanceOf(StreamNotFoundError);
      expect(
        await failureOf(revisions(stream, { direction: 'backwards', fromRevision: 'end' })),
      ).toBeInstanceOf(StreamNotFoundError);
    });

    test('returns acknowledged events immediately after the append', async () => {
      const stream = newStream();
      for (let revision = 0; revision < 20; revision += 1) {
        await client.appendToStream(stream, newEvents(1));
        expect(await revisions(stream, { maxCount: 1, fromRevision: 'end', direction: 'backwards' })).toEqual(
          [revision],
        );
      }
    });

    test('treats stream names like patterns or SQL as plain names', async () => {
      for (const name of [`it's-${newStream()}`, `100%_\\${newStream()}`, `漢字 🙂-${newStream()}`]) {
        const events = await fill(client, name, 1);
        expect(idsOf(await readWhole(client, name))).toEqual(idsOf(events));
      }
    });
  });

  describe('reading $all', () => {
    async function threeAppends(): Promise<{ ids: string[]; positions: Position[] }> {
      const written: string[] = [];
      const positions: Position[] = [];
      for (let round = 0; round < 3; round += 1) {
        const events = newEvents(1);
        const { position } = await client.appendToStream(newStream(), events);
        if (position === undefined) throw new Error('no position');
        written.push(...idsOf(events));
        positions.push(position);
      }
      return { ids: written, positions };
    }

    test('includes the event at the start position when it reads forwards', async () => {
      const { ids: written, positions } = await threeAppends();
      expect((await ids({ fromPosition: positions[0] ?? 'start', maxCount: 3 })).slice(0, 1)).toEqual(
        written.slice(0, 1),
      );
      const found = await ids({ fromPosition: positions[1] ?? 'start' });
      expect(found).not.toContain(written[0]);
      expect(found).toEqual(expect.arrayContaining(written.slice(1)));
    });

    test('excludes the event at the start position when it reads backwards', async () => {
      const { ids: written, positions } = await threeAppends();
      const found = await ids({ fromPosition: positions[2] ?? 'end', direction: 'backwards', maxCount: 50 });
      expect(found).not.toContain(written[2]);
      expect(found.indexOf(written[1] ?? '')).toBeLessThan(found.indexOf(written[0] ?? ''));
      expect(found).toEqual(expect.arrayContaining(written.slice(0, 2)));
    });

    test('starts with the newest event backwards from the end, and is empty forwards from it', async () => {
      const { ids: written } = await threeAppends();
      expect(await ids({ fromPosition: 'end', direction: 'backwards', maxCount: 200 })).toContain(written[2]);
      expect(await ids({ fromPosition: 'end', direction: 'forwards' })).toEqual([]);
      expect(await ids({ fromPosition: 'start', direction: 'backwards' })).toEqual([]);
    });

    test('returns one total order of growing positions, system events included', async () => {
      let last = -1n;
      let systemEvents = 0;
      for await (const { event } of client.readAll()) {
        if (event === undefined) continue;
        expect(event.position.commit).toBeGreaterThan(last);
        last = event.position.commit;
        if (event.type.startsWith('$')) systemEvents += 1;
      }
      expect(systemEvents).toBeGreaterThan(0);
    });

    test('returns the events of one append together and in order', async () => {
      const events = newEvents(20);
      const stream = newStream();
      const [written] = await Promise.all([
        client.appendToStream(stream, events),
        ...Array.from({ length: 10 }, () => client.appendToStream(newStream(), newEvents(5))),
      ]);
      if (written.position === undefined) throw new Error('no position');
      const found = await ids({ fromPosition: written.position, direction: 'backwards', maxCount: 19 });
      expect(found.toReversed()).toEqual(idsOf(events).slice(0, 19));
    });
  });
}
