import { type EventStoreDBClient, WrongExpectedVersionError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { failureOf, fill, newEvents, newStream, readWhole, revisionsOf } from './support.ts';

export function metadataCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = adapter.connect();
  });
  afterAll(() => client.dispose());

  async function backwards(stream: string): Promise<number[]> {
    const found: number[] = [];
    const options = { fromRevision: 'end', direction: 'backwards' } as const;
    for await (const { event } of client.readStream(stream, options)) found.push(Number(event?.revision));
    return found;
  }

  describe('stream metadata', () => {
    test('is empty for a stream without metadata', async () => {
      const stream = newStream();
      expect(await client.getStreamMetadata(stream)).toEqual({ streamName: stream });
    });

    test('is the value that was set last, and earlier values stay stored', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 3 });
      await client.setStreamMetadata(stream, { maxCount: 5, maxAge: 60, owner: 'team' });
      const { metadata } = await client.getStreamMetadata(stream);
      expect(metadata).toEqual({ maxCount: 5, maxAge: 60, owner: 'team' });
    });

    test('has its own expected revision', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 3 }, { expectedRevision: 'no_stream' });
      const error = await failureOf(
        client.setStreamMetadata(stream, { maxCount: 4 }, { expectedRevision: 'no_stream' }),
      );
      expect(error).toBeInstanceOf(WrongExpectedVersionError);
      await client.setStreamMetadata(stream, { maxCount: 4 }, { expectedRevision: 0n });
    });

    test('makes a stream without events exist', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 9 });
      const written = await client.appendToStream(stream, newEvents(1), {
        expectedRevision: 'stream_exists',
      });
      expect(written.nextExpectedRevision).toBe(0n);
    });

    test('limits reads to the newest events by a maximum count, and revisions continue', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      await client.setStreamMetadata(stream, { maxCount: 2 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([3, 4]);
      expect(await backwards(stream)).toEqual([4, 3]);
      const written = await client.appendToStream(stream, newEvents(1), { expectedRevision: 4n });
      expect(written.nextExpectedRevision).toBe(5n);
      expect(revisionsOf(await readWhole(client, stream))).toEqual([4, 5]);
    });

    test('limits reads to events at and after a truncation', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([3, 4]);
      expect(await backwards(stream)).toEqual([4, 3]);
    });

    test('limits reads to events younger than a maximum age', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      await client.setStreamMetadata(stream, { maxAge: 3_600 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([0, 1]);
    });
  });
}
