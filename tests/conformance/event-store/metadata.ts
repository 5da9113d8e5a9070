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
    test('of a stream without any is nothing', async () => {
      const stream = newStream();
      expect(await client.getStreamMetadata(stream)).toEqual({ streamName: stream });
    });

    test('is what was set last, and what was set is kept', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 3 });
      await client.setStreamMetadata(stream, { maxCount: 5, maxAge: 60, owner: 'team' });
      const { metadata } = await client.getStreamMetadata(stream);
      expect(metadata).toEqual({ maxCount: 5, maxAge: 60, owner: 'team' });
    });

    test('expects a revision of its own', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 3 }, { expectedRevision: 'no_stream' });
      const error = await failureOf(
        client.setStreamMetadata(stream, { maxCount: 4 }, { expectedRevision: 'no_stream' }),
      );
      expect(error).toBeInstanceOf(WrongExpectedVersionError);
      await client.setStreamMetadata(stream, { maxCount: 4 }, { expectedRevision: 0n });
    });

    test('alone makes a stream that exists without events', async () => {
      const stream = newStream();
      await client.setStreamMetadata(stream, { maxCount: 9 });
      const written = await client.appendToStream(stream, newEvents(1), {
        expectedRevision: 'stream_exists',
      });
      expect(written.nextExpectedRevision).toBe(0n);
    });

    test('with a maximum count shows only the newest events; revisions go on', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      await client.setStreamMetadata(stream, { maxCount: 2 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([3, 4]);
      expect(await backwards(stream)).toEqual([4, 3]);
      const written = await client.appendToStream(stream, newEvents(1), { expectedRevision: 4n });
      expect(written.nextExpectedRevision).toBe(5n);
      expect(revisionsOf(await readWhole(client, stream))).toEqual([4, 5]);
    });

    test('with a truncation shows only what is at and after it', async () => {
      const stream = newStream();
      await fill(client, stream, 5);
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([3, 4]);
      expect(await backwards(stream)).toEqual([4, 3]);
    });

    test('with a maximum age keeps what is younger', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      await client.setStreamMetadata(stream, { maxAge: 3_600 });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([0, 1]);
    });
  });
}
