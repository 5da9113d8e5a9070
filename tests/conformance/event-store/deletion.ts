import {
  type EventStoreDBClient,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { failureOf, fill, idsOf, newEvents, newStream, readWhole, revisionsOf } from './support.ts';

export function deletionCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = adapter.connect();
  });
  afterAll(() => client.dispose());

  describe('deleting a stream', () => {
    test('hides its events from reads of the stream, but not of $all', async () => {
      const stream = newStream();
      const events = await fill(client, stream, 3);
      const { position } = await client.deleteStream(stream, { expectedRevision: 2n });
      expect(await failureOf(readWhole(client, stream))).toBeInstanceOf(StreamNotFoundError);
      const all: string[] = [];
      const options = { fromPosition: position ?? 'end', direction: 'backwards', maxCount: 20 } as const;
      for await (const { event } of client.readAll(options))
        if (event?.streamId === stream) all.push(event.id);
      expect(all.toReversed()).toEqual(idsOf(events));
    });

    test('checks the expected revision like an append', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      const error = await failureOf(client.deleteStream(stream, { expectedRevision: 0n }));
      expect(error).toBeInstanceOf(WrongExpectedVersionError);
      expect(error).toMatchObject({ streamName: stream, expectedVersion: 0n, actualVersion: 1n });
      expect(await readWhole(client, stream)).toHaveLength(2);
    });

    test('may be repeated, and the stream stays absent', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      await client.deleteStream(stream);
      await client.deleteStream(stream);
      await client.deleteStream(stream, { expectedRevision: 1n });
      expect(await failureOf(readWhole(client, stream))).toBeInstanceOf(StreamNotFoundError);
      const written = await client.appendToStream(stream, newEvents(1), { expectedRevision: 1n });
      expect(written.nextExpectedRevision).toBe(2n);
    });

    test('is rejected when the stream never existed', async () => {
      expect(await failureOf(client.deleteStream(newStream()))).toBeInstanceOf(WrongExpectedVersionError);
    });

    test.each(['no_stream', 'any', 1n] as const)(
      'is undone by an append that expects %s, and revisions continue',
      async (expectedRevision) => {
        const stream = newStream();
        await fill(client, stream, 2);
        await client.deleteStream(stream);
        const events = newEvents(2);
        const written = await client.appendToStream(stream, events, { expectedRevision });
        expect(written.nextExpectedRevision).toBe(3n);
        const visible = await readWhole(client, stream);
        expect(revisionsOf(visible)).toEqual([2, 3]);
        expect(idsOf(visible)).toEqual(idsOf(events));
      },
    );

    test('makes the stream count as absent', async () => {
      const stream = newStream();
      await fill(client, stream, 1);
      await client.deleteStream(stream);
      const append = client.appendToStream(stream, newEvents(1), { expectedRevision: 'stream_exists' });
      expect(await failureOf(append)).toBeInstanceOf(StreamDeletedError);
    });
  });

  describe('a tombstone', () => {
    test('closes a stream for good', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      await client.tombstoneStream(stream, { expectedRevision: 1n });
      expect(await failureOf(readWhole(client, stream))).toBeInstanceOf(StreamDeletedError);
      for (const expectedRevision of ['any', 'no_stream', 'stream_exists', 1n] as const) {
        const error = await failureOf(client.appendToStream(stream, newEvents(1), { expectedRevision }));
        expect(error).toBeInstanceOf(StreamDeletedError);
        expect(error).toMatchObject({ streamName: stream });
      }
      expect(await failureOf(client.tombstoneStream(stream))).toBeInstanceOf(StreamDeletedError);
      expect(await failureOf(client.deleteStream(stream))).toBeInstanceOf(StreamDeletedError);
    });

    test('checks the expected revision like an append', async () => {
      const stream = newStream();
      await fill(client, stream, 2);
      const error = await failureOf(client.tombstoneStream(stream, { expectedRevision: 5n }));
      expect(error).toBeInstanceOf(WrongExpectedVersionError);
      expect(await readWhole(client, stream)).toHaveLength(2);
    });

    test('is an event in $all', async () => {
      const stream = newStream();
      await fill(client, stream, 1);
      const { position } = await client.tombstoneStream(stream);
      let type: string | undefined;
      const options = { fromPosition: position ?? 'start', maxCount: 1 } as const;
      for await (const { event } of client.readAll(options)) type = event?.type;
      expect(type).toBe('$streamDeleted');
    });

    test('fails a subscription that starts after it', async () => {
      const stream = newStream();
      await fill(client, stream, 1);
      await client.tombstoneStream(stream);
      const subscription = client.subscribeToStream(stream);
      subscription.on('data', () => undefined);
      const error = await new Promise((resolve) => subscription.once('error', resolve));
      expect(error).toBeInstanceOf(StreamDeletedError);
    });
  });
}
