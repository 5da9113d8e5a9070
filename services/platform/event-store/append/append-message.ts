import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { UnavailableError, UnknownError } from '@eventstore/db-client';
import type { ServiceError } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { Event, EventMetadata } from '#contracts/events/event.ts';
import { EventStoreDenied } from '../errors.ts';

/** Written and read with the package's generated classes. */

export const BATCH_APPEND = '/event_store.client.streams.Streams/BatchAppend';
export const JSON_CONTENT = 'application/json';

export type EncodedEvent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/** -1n: no stream. */
export type Expected = bigint | 'any';

/** Revision and commit position of the last event appended. */
export type Recorded = { readonly revision: bigint; readonly position: bigint };

const uuid = (text: string): shared.UUID => new shared.UUID().setString(text);

const proposed = ({ id, type, contentType, data, metadata }: EncodedEvent) => {
  const message = new streams.BatchAppendReq.ProposedMessage();
  message.setId(uuid(id));
  message.getMetadataMap().set('type', type);
  message.getMetadataMap().set('content-type', contentType);
  message.setData(data);
  message.setCustomMetadata(metadata);
  return message;
};

/** The server drops an append that it has not begun by the deadline. */
export const encodeAppend = (
  correlation: string,
  stream: string,
  expected: Expected,
  events: readonly EncodedEvent[],
  deadline: Date,
): Buffer => {
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8')));
  options.setDeadline(timestamps.Timestamp.fromDate(deadline));
  if (expected === 'any') options.setAny(new empty.Empty());
  else if (expected < 0n) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streams.BatchAppendReq();
  request.setCorrelationId(uuid(correlation));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(proposed));
  request.setIsFinal(true);
  return Buffer.from(request.serializeBinary());
};

export type AppendAnswer = { readonly correlation: string } & (
  | { readonly recorded: Recorded }
  | { readonly error: Error }
);

/** A UUID is text, or two halves of 64 bits. */
const uuidText = (id: shared.UUID | undefined): string => {
  const structured = id?.getStructured();
  if (!structured) return id?.getString() ?? '';
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** Codes of google.rpc.Status that no repetition makes right. */
const INVALID_ARGUMENT = 3;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;
const UNAVAILABLE = 14;
const ACCESS_DENIED = 'event_store.client.AccessDenied';
const TOO_LARGE = 'event_store.client.MaximumAppendSizeExceeded';

const errorOf = (response: streams.BatchAppendResp): Error => {
  const stream = Buffer.from(response.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');
  const status = response.getError();
  const name = status?.getDetails()?.getTypeName() ?? '';
  const message = status?.getMessage() || 'no reason given';
  const code = Number(status?.getCode());
  if (name === ACCESS_DENIED || code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    return new EventStoreDenied(new Error(message));
  }
  if (code === INVALID_ARGUMENT && name !== TOO_LARGE) {
    return new UnknownError({ message: `refused: ${message}`, code: INVALID_ARGUMENT } as ServiceError);
  }
  // A server that starts, is busy or looks for its leader answers in words, without a type.
  if (!status || !name.startsWith('event_store.client.')) {
    return new UnavailableError({ message: `not ready: ${message}`, code: UNAVAILABLE } as ServiceError);
  }
  return unpackToCommandError(status, stream);
};

export const decodeAnswer = (bytes: Buffer): AppendAnswer => {
  const response = streams.BatchAppendResp.deserializeBinary(bytes);
  const correlation = uuidText(response.getCorrelationId());
  const success = response.getSuccess();
  if (!success) return { correlation, error: errorOf(response) };
  return {
    correlation,
    recorded: {
      revision: success.hasCurrentRevision() ? BigInt(success.getCurrentRevision()) : -1n,
      position: BigInt(success.getPosition()?.getCommitPosition() ?? 0),
    },
  };
};

/** The server's limit is 1 MiB; the rest is for framing. */
const APPEND_MAX_BYTES = 900_000;
const FRAMING_BYTES = 200;
const APPEND_MAX_EVENTS = 1_000;

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'utf8');

export const encodeEvent = (event: Event, id: string, metadata: Partial<EventMetadata>): EncodedEvent => ({
  id,
  type: event.type,
  contentType: JSON_CONTENT,
  data: jsonBytes(event.data),
  metadata: jsonBytes(metadata),
});

export const countedBytes = ({
  type,
  data,
  metadata,
}: Pick<EncodedEvent, 'type' | 'data' | 'metadata'>): number =>
  data.length + metadata.length + 2 * type.length;

export const sizeOf = (event: EncodedEvent): number => countedBytes(event) + FRAMING_BYTES;

/** A single larger event is a slice of its own: the server refuses it with a clear error. */
export const slicesOf = <E extends EncodedEvent>(events: readonly E[]): readonly (readonly E[])[] => {
  const slices: E[][] = [];
  let slice: E[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = sizeOf(event);
    if (slice.length > 0 && (bytes + size > APPEND_MAX_BYTES || slice.length >= APPEND_MAX_EVENTS)) {
      slices.push(slice);
      slice = [];
      bytes = 0;
    }
    slice.push(event);
    bytes += size;
  }
  if (slice.length > 0) slices.push(slice);
  return slices;
};
