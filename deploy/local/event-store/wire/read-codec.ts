import { decodeStreamName } from './append-codec.ts';
import type { StoredEvent } from '../model.ts';
import { bytesField, bytesFieldLength, MalformedMessage, numberField, varintLength } from './protobuf.ts';
import { WireReader, writeBytesHeader, writeVarint } from './protobuf.ts';
import { writeUuidText } from './uuid.ts';

/** Decodes and encodes ReadReq and ReadResp of streams.proto. */

export type StreamStart = number | 'start' | 'end';

export interface FilterOptions {
  readonly on: 'stream' | 'type';
  readonly prefixes: readonly string[];
  readonly regex: string | null;
  readonly checkpointInterval: number;
}

export interface ReadOptions {
  /** `null` for $all. */
  readonly stream: string | null;
  /** Echoed in the reply as received. */
  readonly identifier: Buffer;
  /** Revision of the stream, or position in $all. */
  readonly from: StreamStart;
  readonly backwards: boolean;
  readonly resolveLinks: boolean;
  /** `null` for a subscription. */
  readonly maxCount: number | null;
  readonly filter: FilterOptions | null;
}

export function decodeRead(message: Buffer): ReadOptions {
  const request = new WireReader(message);
  while (request.next()) {
    if (request.field === 1) return decodeOptions(request.message());
    request.skip();
  }
  throw new MalformedMessage('A read needs options.');
}

function decodeOptions(reader: WireReader): ReadOptions {
  let target: Pick<ReadOptions, 'stream' | 'identifier' | 'from'> | null = null;
  let backwards = false;
  let resolveLinks = false;
  let maxCount: number | null = null;
  let filter: FilterOptions | null = null;
  while (reader.next()) {
    if (reader.field === 1) target = decodeStreamTarget(reader.message());
    else if (reader.field === 2) target = decodeAllTarget(reader.message());
    else if (reader.field === 3) backwards = reader.varint() === 1;
    else if (reader.field === 4) resolveLinks = reader.varint() !== 0;
    else if (reader.field === 5) maxCount = reader.varint();
    else if (reader.field === 7) filter = decodeFilter(reader.message());
    else reader.skip();
  }
  if (target === null) throw new MalformedMessage('A read needs a stream or $all.');
  return { ...target, backwards, resolveLinks, maxCount, filter };
}

function decodeStreamTarget(reader: WireReader) {
  let identifier: Buffer | null = null;
  let from: StreamStart = 'start';
  while (reader.next()) {
    if (reader.field === 1) identifier = reader.bytes();
    else if (reader.field === 2) from = Math.min(reader.varint(), Number.MAX_SAFE_INTEGER);
    else if (reader.field === 4) from = skipped(reader, 'end');
    else reader.skip();
  }
  if (identifier === null) throw new MalformedMessage('The stream is not named.');
  return { stream: decodeStreamName(identifier), identifier, from };
}

function decodeAllTarget(reader: WireReader) {
  let from: StreamStart = 'start';
  while (reader.next()) {
    if (reader.field === 1) from = decodePosition(reader.message());
    else if (reader.field === 3) from = skipped(reader, 'end');
    else reader.skip();
  }
  return { stream: null, identifier: NOTHING, from };
}

function skipped(reader: WireReader, from: StreamStart): StreamStart {
  reader.skip();
  return from;
}

function decodePosition(reader: WireReader): number {
  let commit = 0;
  while (reader.next()) {
    if (reader.field === 1) commit = Math.min(reader.varint(), Number.MAX_SAFE_INTEGER);
    else reader.skip();
  }
  return commit;
}

/** Default of the real server, in events. */
const DEFAULT_WINDOW = 32;

function decodeFilter(reader: WireReader): FilterOptions {
  let on: FilterOptions['on'] = 'stream';
  let expression: Pick<FilterOptions, 'prefixes' | 'regex'> = { prefixes: [], regex: null };
  let window = DEFAULT_WINDOW;
  let multiplier = 1;
  while (reader.next()) {
    if (reader.field === 1 || reader.field === 2) {
      on = reader.field === 1 ? 'stream' : 'type';
      expression = decodeExpression(reader.message());
    } else if (reader.field === 3) window = Math.max(1, reader.varint());
    else if (reader.field === 5) multiplier = Math.max(1, reader.varint());
    else reader.skip();
  }
  return { on, ...expression, checkpointInterval: window * multiplier };
}

function decodeExpression(reader: WireReader): Pick<FilterOptions, 'prefixes' | 'regex'> {
  const prefixes: string[] = [];
  let regex: string | null = null;
  while (reader.next()) {
    if (reader.field === 1) regex = reader.text();
    else if (reader.field === 2) prefixes.push(reader.text());
    else reader.skip();
  }
  // proto3 encodes an absent regex as an empty one.
  return { prefixes, regex: regex === '' ? null : regex };
}

const NOTHING = Buffer.alloc(0);

/** ReadResp { confirmation = 2 { subscription_id = 1 } }. */
export function confirmation(subscriptionId: string): Buffer {
  return bytesField(2, bytesField(1, subscriptionId));
}

/** ReadResp { checkpoint = 3 { commit_position = 1, prepare_position = 2 } }. */
export function checkpoint(position: number): Buffer {
  return bytesField(3, Buffer.concat([numberField(1, position), numberField(2, position)]));
}

/** ReadResp { stream_not_found = 4 { stream_identifier = 1 } }. */
export function streamNotFound(identifier: Buffer): Buffer {
  return bytesField(4, bytesField(1, identifier));
}

/** ReadResp { caught_up = 8 }. */
export const CAUGHT_UP = bytesField(8, NOTHING);

const CONTENT_JSON = mapEntry('content-type', 'application/json');
const CONTENT_BINARY = mapEntry('content-type', 'application/octet-stream');
const TYPE_KEY = bytesField(1, 'type');
const CREATED_KEY = bytesField(1, 'created');
/** Units of 100 ns since 1970 as decimal digits: seventeen of them until the year 2286. */
const TICK_DIGITS = 17;
const CREATED_ENTRY_LENGTH = CREATED_KEY.length + 2 + TICK_DIGITS;
/** UUID { string = 2 }: tag, length, 36 characters. */
const UUID_LENGTH = 38;

function mapEntry(key: string, value: string): Buffer {
  return bytesField(6, Buffer.concat([bytesField(1, key), bytesField(2, value)]));
}

/** ReadResp { event = 1 { event = 1 RecordedEvent, commit_position = 3 } }. */
export function eventWire(event: StoredEvent): Buffer {
  event.wire ??= encodeEvent(event);
  return event.wire;
}

export function encodeEvent(event: StoredEvent): Buffer {
  const positionLength = varintLength(event.position);
  const streamLength = bytesFieldLength(event.stream.length);
  const typeEntryLength = TYPE_KEY.length + bytesFieldLength(event.type.length);
  const content = event.isJson ? CONTENT_JSON : CONTENT_BINARY;
  const recordLength =
    2 +
    UUID_LENGTH +
    bytesFieldLength(streamLength) +
    (1 + varintLength(event.revision)) +
    2 * (1 + positionLength) +
    bytesFieldLength(typeEntryLength) +
    content.length +
    bytesFieldLength(CREATED_ENTRY_LENGTH) +
    (event.metadata.length === 0 ? 0 : bytesFieldLength(event.metadata.length)) +
    bytesFieldLength(event.data.length);
  const readEventLength = bytesFieldLength(recordLength) + 1 + positionLength;
  const wire = Buffer.allocUnsafe(bytesFieldLength(readEventLength));
  let at = writeBytesHeader(wire, 0, 1, readEventLength);
  at = writeBytesHeader(wire, at, 1, recordLength);
  at = writeBytesHeader(wire, at, 1, UUID_LENGTH);
  at = writeUuidText(wire, writeBytesHeader(wire, at, 2, 36), event.id);
  at = writeBytesHeader(wire, at, 2, streamLength);
  at = writeBytes(wire, at, 3, event.stream);
  at = writeNumber(wire, at, 3, event.revision);
  at = writeNumber(wire, at, 4, event.position);
  at = writeNumber(wire, at, 5, event.position);
  at = writeBytesHeader(wire, at, 6, typeEntryLength);
  at += TYPE_KEY.copy(wire, at);
  at = writeBytes(wire, at, 2, event.type);
  at += content.copy(wire, at);
  at = writeBytesHeader(wire, at, 6, CREATED_ENTRY_LENGTH);
  at += CREATED_KEY.copy(wire, at);
  at = writeBytesHeader(wire, at, 2, TICK_DIGITS);
  at += wire.write(`${event.createdMs}0000`, at, TICK_DIGITS, 'latin1');
  if (event.metadata.length > 0) at = writeBytes(wire, at, 7, event.metadata);
  at = writeBytes(wire, at, 8, event.data);
  writeNumber(wire, at, 3, event.position);
  return wire;
}

function writeBytes(wire: Buffer, offset: number, field: number, bytes: Buffer): number {
  const at = writeBytesHeader(wire, offset, field, bytes.length);
  wire.set(bytes, at);
  return at + bytes.length;
}

function writeNumber(wire: Buffer, offset: number, field: number, value: number): number {
  wire[offset] = field << 3;
  return writeVarint(wire, offset + 1, value);
}
