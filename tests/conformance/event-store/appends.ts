import { randomUUID } from 'node:crypto';
import {
  binaryEvent,
  type EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventStoreAdapter } from '../event-store.ts';
import { failureOf, fill, idsOf, isBefore, newEvents, newStream, readWhole, revisionsOf } from './support.ts';

export function appendCases(adapter: EventStoreAdapter): void {
  let client: EventStoreDBClient;
  beforeAll(() => {
    client = adapter.connect();
  });
  afterAll(() => client.dispose());

  async function conflictOf(append: Promise<unknown>): Promise<WrongExpectedVersionError> {
    const error = await failureOf(append);
    expect(error).toBeInstanceOf(WrongExpectedVersionError);
    return error as WrongExpectedVersionError;
  }

  describe('appending with an expected revision', () => {
    test('accepts no_stream for a stream without events, and rejects it afterwards', async () => {
      const stream = newStream();
      const written = await client.appendToStream(stream, newEvents(2), { expectedRevision: 'no_stream' });
      expect(written.nextExpectedRevision).toBe(1n);
      const error = await conflictOf(
        client.appendToStream(stream, newEvents(1), { expectedRevision: 'no_stream' }),
      );
      expect(error).toMatchObject({ streamName: stream, expectedVersion: 'no_stream', actualVersion: 1n });
    });

    test('accepts an exact revision only at that revision', async () => {
      const stream = newStream();
      await fill(client, stream, 3);
      const early = await conflictOf(client.appendToStream(stream, newEvents(1), { expectedRevision: 1n }));
      expect(early).toMatchObject({ expectedVersion: 1n, actualVersion: 2n });
      const late = await conflictOf(client.appendToStream(stream, newEvents(1), { expectedRevision: 7n }));
      expect(late).toMatchObject({ expectedVersion: 7n, actualVersion: 2n });
      const written = await client.appendToStream(stream, newEvents(1), { expectedRevision: 2n });
      expect(written.nextExpectedRevision).toBe(3n);
    });

    test('rejects an exact revision of a stream without events', async () => {
      const error = await conflictOf(
        client.appendToStream(newStream(), newEvents(1), { expectedRevision: 0n }),
      );
      expect(error).toMatchObject({ expectedVersion: 0n, actualVersion: 'no_stream' });
    });

    test('rejects stream_exists for a stream without events, and accepts it with events', async () => {
      const stream = newStream();
      const options = { expectedRevision: 'stream_exists' } as const;
      const error = await conflictOf(client.appendToStream(stream, newEvents(1), options));
      expect(error).toMatchObject({ expectedVersion: 'stream_exists', actualVersion: 'no_stream' });
      await fill(client, stream, 1);
      const written = await client.appendToStream(stream, newEvents(1), options);
      expect(written.nextExpectedRevision).toBe(1n);
    });

    test('always accepts any', async () => {
      const stream = newStream();
      await client.appendToStream(stream, newEvents(1), { expectedRevision: 'any' });
      const written = await client.appendToStream(stream, newEvents(2), { expectedRevision: 'any' });
      expect(written.nextExpectedRevision).toBe(2n);
      expect(revisionsOf(await readWhole(client, stream))).toEqual([0, 1, 2]);
    });

    test('returns growing positions', async () => {
      const first = await client.appendToStream(newStream(), newEvents(1));
      const second = await client.appendToStream(newStream(), newEvents(3));
      if (first.position === undefined || second.position === undefined) throw new Error('no position');
      expect(isBefore(first.position, second.position)).toBe(true);
    });
  });

  describe('repeating an append', () => {
    test('returns the first result for the same exact revision and ids', async () => {
      const stream = newStream();
      await fill(client, stream, 1);
      const events = newEvents(3);
      const first = await client.appendToStream(stream, events, { expectedRevision: 0n });
      await client.appendToStream(stream, newEvents(1), { expectedRevision: 3n });
      const second = await client.appendToStream(stream, events, { expectedRevision: 0n });
      expect(second).toEqual(first);
      expect(await readWhole(client, stream)).toHaveLength(5);
    });

    test('returns the first result for no_stream and the same ids', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const options = { expectedRevision: 'no_stream' } as const;
      const first = await client.appendToStream(stream, events, options);
      expect(await client.appendToStream(stream, events, options)).toEqual(first);
    });

    test.each(['any', 'stream_exists'] as const)(
      'writes nothing for %s and recently written ids',
      async (expectedRevision) => {
        const stream = newStream();
        await fill(client, stream, 1);
        const events = newEvents(2);
        const first = await client.appendToStream(stream, events, { expectedRevision });
        const second = await client.appendToStream(stream, events, { expectedRevision });
        expect(second.nextExpectedRevision).toBe(first.nextExpectedRevision);
        expect(await readWhole(client, stream)).toHaveLength(3);
      },
    );

    test('stores one copy when repetitions are concurrent', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const append = () => client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
      const answers = await Promise.allSettled(Array.from({ length: 8 }, append));
      // EventStoreDB leaves some repetitions of an append that is not committed yet without an answer until their deadline.
      const faults = answers.flatMap((one) =>
        one.status === 'rejected' ? [one.reason as { type: string }] : [],
      );
      expect(faults.filter(({ type }) => type !== 'deadline-exceeded')).toEqual([]);
      expect(faults.length).toBeLessThan(answers.length);
      const commits = answers.flatMap((one) =>
        one.status === 'fulfilled' ? [one.value.position?.commit] : [],
      );
      expect(new Set([...commits, (await append()).position?.commit]).size).toBe(1);
      expect(idsOf(await readWhole(client, stream))).toEqual(idsOf(events));
    });

    test('rejects a repetition in which a later id differs', async () => {
      const stream = newStream();
      const [first, second] = await fill(client, stream, 2);
      if (first === undefined || second === undefined) throw new Error('no events');
      const options = { expectedRevision: 'no_stream' } as const;
      const changed = [first, jsonEvent({ type: 'Happened', data: {} })];
      await conflictOf(client.appendToStream(stream, changed, options));
      // The repetition has more events than the first append.
      await conflictOf(client.appendToStream(stream, [first, second, ...newEvents(1)], options));
      await conflictOf(client.appendToStream(stream, [first, ...newEvents(1)], { expectedRevision: 'any' }));
      expect(await readWhole(client, stream)).toHaveLength(2);
    });

    test('appends again when the stream is another', async () => {
      const events = newEvents(1);
      const [one, other] = [newStream(), newStream()];
      await client.appendToStream(one, events);
      await client.appendToStream(other, events);
      expect(idsOf(await readWhole(client, other))).toEqual(idsOf(events));
    });
  });

  describe('appended events', () => {
    test('are read back unchanged: JSON, bytes, metadata, id, type and time', async () => {
      const stream = newStream();
      const id = randomUUID();
      const json = jsonEvent({
        id,
        type: 'Größe-変更',
        data: { text: 'ä漢🙂', big: '9007199254740993' },
        metadata: { by: 'me' },
      });
      const bytes = binaryEvent({
        type: 'Bytes',
        data: Buffer.from([0, 1, 255, 254]),
        metadata: Buffer.from([7, 0]),
      });
      const empty = jsonEvent({ type: 'Empty', data: {} });
      const beforeMs = Date.now();
      await client.appendToStream(stream, [json, bytes, empty]);
      const [first, second, third] = await readWhole(client, stream);
      expect(first).toMatchObject({
        id,
        type: json.type,
        data: json.data,
        metadata: json.metadata,
        isJson: true,
        streamId: stream,
      });
      expect(second).toMatchObject({ id: bytes.id, type: 'Bytes', isJson: false });
      expect(Buffer.from(second?.data as Uint8Array)).toEqual(Buffer.from([0, 1, 255, 254]));
      expect(Buffer.from(second?.metadata as Uint8Array)).toEqual(Buffer.from([7, 0]));
      expect(third?.metadata).toBeUndefined();
      // The clock of a server in a container may differ slightly.
      expect(Math.abs((first?.created.getTime() ?? 0) - beforeMs)).toBeLessThan(60_000);
    });

    test('are stored all or none, without a gap', async () => {
      const stream = newStream();
      const events = newEvents(1_000);
      const written = await client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
      expect(written.nextExpectedRevision).toBe(999n);
      expect(idsOf(await readWhole(client, stream))).toEqual(idsOf(events));
    });

    test('may arrive in several messages of one append', async () => {
      const stream = newStream();
      const events = newEvents(50);
      await client.appendToStream(stream, events, { expectedRevision: 'no_stream', batchAppendSize: 1_000 });
      expect(idsOf(await readWhole(client, stream))).toEqual(idsOf(events));
    });

    test('are rejected above the maximum size, and none is written', async () => {
      const stream = newStream();
      const large = Array.from({ length: 3 }, () =>
        jsonEvent({ type: 'Large', data: { text: 'x'.repeat(400_000) } }),
      );
      const error = await failureOf(client.appendToStream(stream, large));
      expect(error).toBeInstanceOf(MaxAppendSizeExceededError);
      const written = await client.appendToStream(stream, large.slice(0, 2), {
        expectedRevision: 'no_stream',
      });
      expect(written.nextExpectedRevision).toBe(1n);
      expect(await readWhole(client, stream)).toHaveLength(2);
    });

    test('may be sent by the call for single appends', async () => {
      const stream = newStream();
      // With credentials the client uses the call for single appends; without TLS it does not send them.
      const options = {
        expectedRevision: 'no_stream',
        credentials: { username: 'a', password: 'b' },
      } as const;
      const written = await client.appendToStream(stream, newEvents(2), options);
      expect(written.nextExpectedRevision).toBe(1n);
      const error = await conflictOf(client.appendToStream(stream, newEvents(1), options));
      expect(error).toMatchObject({ expectedVersion: 'no_stream', actualVersion: 1n });
      expect(revisionsOf(await readWhole(client, stream))).toEqual([0, 1]);
    });
  });
}
