import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadEvent, decodeBatchPart, decodeStreamName } from '#deploy/local/event-store/wire/append-codec.ts';
import { batchRefusal, batchSuccess } from '#deploy/local/event-store/wire/append-replies.ts';
import type { StoredEvent } from '#deploy/local/event-store/model.ts';
import {
  bytesField,
  MalformedMessage,
  numberField,
  TOMBSTONE_REVISION,
} from '#deploy/local/event-store/wire/protobuf.ts';
import { checkpoint, decodeRead, encodeEvent } from '#deploy/local/event-store/wire/read-codec.ts';
import { runs } from '#tests/property-seed.ts';

/** The generated classes of the official client are the reference for our own encoding. */
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
/** The limit of stream names and event types in the store. */
const NAME_MAX_BYTES = 512;
const name = fc
  .string({ minLength: 1, maxLength: 100, unit: 'grapheme' })
  .filter((text) => !text.includes('\0') && Buffer.byteLength(text) <= NAME_MAX_BYTES);
/** Lengths around the sizes at which a varint grows, and larger payloads. */
const payload = fc.oneof(
  bytes(200),
  fc.constantFrom(127, 128, 16_383, 16_384, 70_000).map((length) => Buffer.alloc(length, 'x')),
);
const position = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(0, 127, 128, 2 ** 31, 2 ** 32, 2 ** 35 - 1, 2 ** 49),
);

const stored: fc.Arbitrary<StoredEvent> = fc.record({
  position: position.filter((value) => value < TOMBSTONE_REVISION),
  revision: fc.oneof(position, fc.constant(TOMBSTONE_REVISION)),
  stream: name.map((text) => Buffer.from(text)),
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((array) => Buffer.from(array)),
  type: name.map((text) => Buffer.from(text)),
  isJson: fc.boolean(),
  createdMs: fc.integer({ min: 1_000_000_000_000, max: 4_000_000_000_000 }),
  data: payload,
  metadata: payload,
});

describe('the encoding of frequent messages', () => {
  test('encodes an event of a read', () => {
    fc.assert(
      fc.property(stored, (event) => {
        const decoded = streams.ReadResp.deserializeBinary(encodeEvent(event)).getEvent();
        const record = decoded?.getEvent();
        const revision =
          event.revision === TOMBSTONE_REVISION ? '9223372036854775807' : String(event.revision);
        expect(record?.getId()?.getString().replaceAll('-', '')).toBe(event.id.toString('hex'));
        expect(record?.getStreamRevision()).toBe(revision);
        expect(record?.getPreparePosition()).toBe(String(event.position));
        expect(record?.getCommitPosition()).toBe(String(event.position));
        expect(decoded?.getCommitPosition()).toBe(String(event.position));
        expect(latin1(record?.getStreamIdentifier()?.getStreamName_asU8())).toBe(latin1(event.stream));
        expect(latin1(record?.getData_asU8())).toBe(latin1(event.data));
        expect(latin1(record?.getCustomMetadata_asU8())).toBe(latin1(event.metadata));
        const metadata = record?.getMetadataMap();
        expect(metadata?.get('type')).toBe(event.type.toString());
        expect(metadata?.get('content-type')).toBe(
          event.isJson ? 'application/json' : 'application/octet-stream',
        );
        expect(metadata?.get('created')).toBe(`${event.createdMs}0000`);
      }),
    );
  });

  test('decodes a batch append', () => {
    const proposed = fc.record({
      id: fc.uuid(),
      type: name,
      isJson: fc.boolean(),
      data: payload,
      metadata: payload,
    });
    const batch = fc.record({
      stream: name,
      revision: fc.option(fc.maxSafeNat()),
      isFinal: fc.boolean(),
      events: fc.array(proposed, { maxLength: 5 }),
    });
    fc.assert(
      fc.property(batch, ({ stream, revision, isFinal, events }) => {
        const request = new streams.BatchAppendReq();
        request.setCorrelationId(new shared.UUID().setString('correlation'));
        request.setIsFinal(isFinal);
        const options = new streams.BatchAppendReq.Options();
        options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
        if (revision !== null) options.setStreamPosition(String(revision));
        request.setOptions(options);
        for (const event of events) {
          const message = new streams.BatchAppendReq.ProposedMessage();
          message.setId(new shared.UUID().setString(event.id));
          message.getMetadataMap().set('type', event.type);
          message.getMetadataMap().set('content-type', event.isJson ? 'application/json' : 'other');
          message.setData(event.data);
          message.setCustomMetadata(event.metadata);
          request.addProposedMessages(message);
        }
        const part = decodeBatchPart(Buffer.from(request.serializeBinary()));
        expect(part.isFinal).toBe(isFinal);
        expect(part.options).toMatchObject({ stream, expected: revision ?? 'any', deadlineMs: Infinity });
        const decoded = part.events.flatMap((event) => (event instanceof BadEvent ? [] : [event]));
        const seen = decoded.map(({ id, type, isJson, data, metadata }) => {
          return [id.toString('hex'), type.toString(), isJson, latin1(data), latin1(metadata)];
        });
        expect(seen).toEqual(
          events.map(({ id, type, isJson, data, metadata }) => {
            return [id.replaceAll('-', ''), type, isJson, latin1(data), latin1(metadata)];
          }),
        );
      }),
    );
  });

  test('encodes the reply to a batch append', () => {
    const correlation = Buffer.from(new shared.UUID().setString('correlation').serializeBinary());
    const identifier = Buffer.from(
      new shared.StreamIdentifier().setStreamName(Buffer.from('a-1')).serializeBinary(),
    );
    fc.assert(
      fc.property(position, position, (revision, at) => {
        const written = { kind: 'written', revision, position: at } as const;
        const reply = streams.BatchAppendResp.deserializeBinary(
          batchSuccess(correlation, identifier, written),
        );
        expect(reply.getCorrelationId()?.getString()).toBe('correlation');
        expect(Buffer.from(reply.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()).toBe('a-1');
        expect(reply.getSuccess()?.getCurrentRevision()).toBe(spelt(revision));
        expect(reply.getSuccess()?.getPosition()?.getCommitPosition()).toBe(spelt(at));
      }),
    );
    const refusal = { kind: 'wrong-expected-version', expected: 3, actual: 7 } as const;
    const status = streams.BatchAppendResp.deserializeBinary(
      batchRefusal(correlation, identifier, refusal),
    ).getError();
    expect(status?.getDetails()?.getTypeName()).toBe('event_store.client.WrongExpectedVersion');
    const details = shared.WrongExpectedVersion.deserializeBinary(
      status?.getDetails()?.getValue_asU8() ?? new Uint8Array(),
    );
    expect(details.getCurrentStreamRevision()).toBe('7');
    expect(details.getExpectedStreamPosition()).toBe('3');
  });

  test('encodes a checkpoint', () => {
    const decoded = streams.ReadResp.deserializeBinary(checkpoint(2 ** 40)).getCheckpoint();
    expect(decoded?.getCommitPosition()).toBe(String(2 ** 40));
  });
});

describe('malformed messages', () => {
  test('are stream names of more than 512 bytes, however few characters they have', () => {
    const decode = (text: string): string =>
      decodeStreamName(
        Buffer.from(new shared.StreamIdentifier().setStreamName(Buffer.from(text)).serializeBinary()),
      );
    const longest = 'é'.repeat(NAME_MAX_BYTES / 2);
    expect(decode(longest)).toBe(longest);
    expect(() => decode(`${longest}x`)).toThrow('A stream name is at most 512 bytes of UTF-8.');
  });

  test('are refused as malformed, for any bytes', () => {
    fc.assert(
      fc.property(bytes(200), fc.constantFrom(decodeBatchPart, decodeRead), (noise, decode) => {
        expect([null, MalformedMessage]).toContain(failureOf(() => decode(noise)));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('with an event that lacks a type, a content type or an id fail that event and not the call', () => {
    const request = new streams.BatchAppendReq();
    request.setCorrelationId(new shared.UUID().setString('correlation'));
    const noType = new streams.BatchAppendReq.ProposedMessage();
    noType.setId(new shared.UUID().setString('00000000-0000-4000-8000-000000000001'));
    const noId = new streams.BatchAppendReq.ProposedMessage();
    noId.getMetadataMap().set('type', 'T');
    noId.getMetadataMap().set('content-type', 'application/json');
    const noContentType = new streams.BatchAppendReq.ProposedMessage();
    noContentType.getMetadataMap().set('type', 'T');
    request.setProposedMessagesList([noType, noId, noContentType]);
    const part = decodeBatchPart(Buffer.from(request.serializeBinary()));
    expect(part.events.map((event) => event instanceof BadEvent && event.missing)).toEqual([
      'type',
      null,
      'content-type',
    ]);
  });
});

/** Latin-1 text, because comparing long strings is fast where comparing long buffers is not. */
function latin1(data: Uint8Array | undefined): string {
  return Buffer.from(data ?? []).toString('latin1');
}

/** Returns the class of the thrown error; `null` when nothing was thrown. */
function failureOf(action: () => unknown): unknown {
  try {
    action();
    return null;
  } catch (error) {
    return (error as Error).constructor;
  }
}

function spelt(value: number): string {
  return value === TOMBSTONE_REVISION ? '9223372036854775807' : String(value);
}

test('the deadline of an append is a time, or a duration from now', () => {
  const identifier = bytesField(1, bytesField(3, 'brand-1'));
  const deadlineOf = (field: number, seconds: number): number => {
    const options = Buffer.concat([identifier, bytesField(field, numberField(1, seconds))]);
    const message = Buffer.concat([bytesField(1, bytesField(2, 'id')), bytesField(2, options)]);
    return decodeBatchPart(message).options?.deadlineMs ?? 0;
  };
  expect(deadlineOf(6, 1_000)).toBe(1_000_000);
  const now = Date.now();
  expect(deadlineOf(7, 1_000)).toBeGreaterThanOrEqual(now + 1_000_000);
  expect(deadlineOf(7, 1_000)).toBeLessThan(now + 1_100_000);
});
