import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import protobuf from 'protobufjs/minimal.js';
import type { NodeConnection } from './node-connection.ts';

/**
 * Reads of the whole log. Their answers are read field by field, because the package's generated classes copy each
 * payload several times: most of the CPU time of a replay's client.
 */

const READ = '/event_store.client.streams.Streams/Read';
/** Ticks of 100 ns since 1970, in decimal digits; without the last four they are milliseconds. */
const TICK_DIGITS_BELOW_MS = 4;

/** Byte fields are views of the message, not copies. */
export type ReadRecord = {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** Time at which this server recorded the event. */
  readonly createdMs: number;
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

export type ReadAnswer =
  | { readonly kind: 'event'; readonly record: ReadRecord }
  | { readonly kind: 'checkpoint'; readonly commit: bigint; readonly prepare: bigint }
  | { readonly kind: 'caught_up' }
  | { readonly kind: 'other' };

const NO_BYTES: Uint8Array = new Uint8Array();
const OTHER = { kind: 'other' } as const;
const CAUGHT_UP = { kind: 'caught_up' } as const;

const HIGH = 2 ** 32;
/** Below this a position is exact as a number. */
const EXACT_HIGH = 2 ** 21;

const uint64 = (reader: protobuf.Reader): bigint => {
  const value = reader.uint64() as number | { readonly low: number; readonly high: number };
  if (typeof value === 'number') return BigInt(value);
  const [high, low] = [value.high >>> 0, value.low >>> 0];
  return high < EXACT_HIGH ? BigInt(high * HIGH + low) : (BigInt(high) << 32n) | BigInt(low);
};

/** Calls `read` for each field of a message, with its number; it returns false for a field that it does not read. */
const readFields = (reader: protobuf.Reader, end: number, read: (field: number) => boolean): void => {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!read(tag >>> 3)) reader.skipType(tag & 7);
  }
};

const endOfMessage = (reader: protobuf.Reader): number => reader.uint32() + reader.pos;

/** Field 2 of a UUID is its text, field 3 of a stream identifier the name. */
const readTextField = (reader: protobuf.Reader, wanted: number): string => {
  let text = '';
  readFields(reader, endOfMessage(reader), (field) => {
    if (field !== wanted) return false;
    text = reader.string();
    return true;
  });
  return text;
};

const readRecord = (reader: protobuf.Reader): ReadRecord => {
  const record: { -readonly [Field in keyof ReadRecord]: ReadRecord[Field] } = {
    stream: '',
    revision: 0n,
    position: 0n,
    createdMs: 0,
    id: '',
    type: '',
    contentType: 'application/octet-stream',
    data: NO_BYTES,
    metadata: NO_BYTES,
  };
  const readProperty = (): void => {
    let name = '';
    let value = '';
    readFields(reader, endOfMessage(reader), (field) => {
      if (field === 1) name = reader.string();
      else if (field === 2) value = reader.string();
      else return false;
      return true;
    });
    if (name === 'type') record.type = value;
    else if (name === 'content-type') record.contentType = value;
    else if (name === 'created') record.createdMs = Number(value.slice(0, -TICK_DIGITS_BELOW_MS));
  };
  readFields(reader, endOfMessage(reader), (field) => {
    switch (field) {
      case 1:
        record.id = readTextField(reader, 2);
        return true;
      case 2:
        record.stream = readTextField(reader, 3);
        return true;
      case 3:
        record.revision = uint64(reader);
        return true;
      case 5:
        record.position = uint64(reader);
        return true;
      case 6:
        readProperty();
        return true;
      case 7:
        record.metadata = reader.bytes();
        return true;
      case 8:
        record.data = reader.bytes();
        return true;
      default:
        return false;
    }
  });
  return record;
};

/** Throws `RangeError` for a message that is cut off. */
const decodeReadAnswer = (bytes: Buffer): ReadAnswer => {
  const reader = protobuf.Reader.create(bytes);
  let answer: ReadAnswer = OTHER;
  readFields(reader, reader.len, (field) => {
    if (field === 1) {
      readFields(reader, endOfMessage(reader), (part) => {
        if (part !== 1) return false;
        answer = { kind: 'event', record: readRecord(reader) };
        return true;
      });
      return true;
    }
    if (field === 3) {
      let [commit, prepare] = [0n, 0n];
      readFields(reader, endOfMessage(reader), (part) => {
        if (part === 1) commit = uint64(reader);
        else if (part === 2) prepare = uint64(reader);
        else return false;
        return true;
      });
      answer = { kind: 'checkpoint', commit, prepare };
      return true;
    }
    if (field === 8) answer = CAUGHT_UP;
    return false;
  });
  return answer;
};

/** UUIDs as text, no links resolved. The caller sets direction, target, filter, and count or subscription. */
export const readOptions = (): streams.ReadReq.Options => {
  const options = new streams.ReadReq.Options();
  options.setUuidOption(new streams.ReadReq.Options.UUIDOption().setString(new empty.Empty()));
  return options;
};

/** `null`: the first event, or when read backwards the last one. */
export const allFrom = (position: bigint | null, isBackwards = false): streams.ReadReq.Options.AllOptions => {
  const all = new streams.ReadReq.Options.AllOptions();
  if (position !== null) {
    const from = new streams.ReadReq.Options.Position();
    from.setCommitPosition(String(position));
    from.setPreparePosition(String(position));
    all.setPosition(from);
  } else if (isBackwards) all.setEnd(new empty.Empty());
  else all.setStart(new empty.Empty());
  return all;
};

/** A call that is cancelled before its end emits an error. */
export const openReadCall = (
  { client, metadata }: Pick<NodeConnection, 'client' | 'metadata'>,
  options: streams.ReadReq.Options,
): ClientReadableStream<ReadAnswer> =>
  client.makeServerStreamRequest(
    READ,
    (request: streams.ReadReq) => Buffer.from(request.serializeBinary()),
    decodeReadAnswer,
    new streams.ReadReq().setOptions(options),
    metadata,
    { deadline: Number.POSITIVE_INFINITY },
  );
