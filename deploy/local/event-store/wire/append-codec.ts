import { isUtf8 } from 'node:buffer';
import type { Expected, ProposedEvent } from '../model.ts';
import { MalformedMessage, WireReader } from './protobuf.ts';
import { parseUuid, uuidFromHalves } from './uuid.ts';

const JSON_CONTENT = 'application/json';
const NANOSECONDS_PER_MS = 1e6;
/** An index entry of PostgreSQL holds about 2,700 bytes. */
const MAX_NAME_BYTES = 512;

/** One bad event refuses the whole append; the call continues. */
export class BadEvent extends Error {
  readonly missing: string | null;
  constructor(message: string, missing: string | null = null) {
    super(message);
    this.missing = missing;
  }
}

export interface AppendOptions {
  readonly stream: string;
  /** `null` for a good name. A fault refuses the append; the call continues. */
  readonly nameFault: string | null;
  /** Echoed in the reply as received. */
  readonly identifier: Buffer;
  readonly expected: Expected;
  readonly deadlineMs: number;
}

export interface BatchPart {
  /** UUID message, echoed in the reply as received. */
  readonly correlation: Buffer;
  readonly options: AppendOptions | null;
  readonly events: readonly (ProposedEvent | BadEvent)[];
  readonly isFinal: boolean;
}

export function decodeBatchPart(message: Buffer): BatchPart {
  const reader = new WireReader(message);
  let correlation: Buffer | null = null;
  let options: AppendOptions | null = null;
  let isFinal = false;
  const events: (ProposedEvent | BadEvent)[] = [];
  while (reader.next()) {
    if (reader.field === 1) correlation = reader.bytes();
    else if (reader.field === 2) options = decodeOptions(reader.message(), BATCH_FIELDS);
    else if (reader.field === 3) events.push(decodeEvent(reader.message()));
    else if (reader.field === 4) isFinal = reader.varint() !== 0;
    else reader.skip();
  }
  if (correlation === null) throw new MalformedMessage('A batch append needs a correlation id.');
  return { correlation, options, events, isFinal };
}

export type AppendPart = { options: AppendOptions } | { event: ProposedEvent | BadEvent };

export function decodeAppendPart(message: Buffer): AppendPart {
  const reader = new WireReader(message);
  let part: AppendPart | null = null;
  while (reader.next()) {
    if (reader.field === 1) part = { options: decodeOptions(reader.message(), UNARY_FIELDS) };
    else if (reader.field === 2) part = { event: decodeEvent(reader.message()) };
    else reader.skip();
  }
  if (part === null) throw new MalformedMessage('An append message holds neither options nor an event.');
  return part;
}

/** DeleteReq and TombstoneReq have the same shape. */
export function decodeDeletion(message: Buffer): AppendOptions {
  const reader = new WireReader(message);
  while (reader.next()) {
    if (reader.field === 1) {
      const options = decodeOptions(reader.message(), UNARY_FIELDS);
      if (options.nameFault !== null) throw new MalformedMessage(options.nameFault);
      return options;
    }
    reader.skip();
  }
  throw new MalformedMessage('A deletion needs options.');
}

/** Expected revision and deadline have other field numbers in each call. */
interface OptionFields {
  readonly revision: number;
  readonly noStream: number;
  readonly any: number;
  readonly streamExists: number;
  /** Timestamp of older clients. */
  readonly deadline: number;
  /** Duration of newer clients. */
  readonly within: number;
}
const COMMON_FIELDS = { revision: 2, noStream: 3, any: 4, streamExists: 5 } as const;
const BATCH_FIELDS: OptionFields = { ...COMMON_FIELDS, deadline: 6, within: 7 };
const UNARY_FIELDS: OptionFields = { ...COMMON_FIELDS, deadline: -1, within: -1 };

function decodeOptions(reader: WireReader, fields: OptionFields): AppendOptions {
  let identifier: Buffer | null = null;
  let expected: Expected = 'any';
  let deadlineMs = Infinity;
  while (reader.next()) {
    if (reader.field === 1) identifier = reader.bytes();
    else if (reader.field === fields.revision) expected = reader.varint();
    else if (reader.field === fields.noStream) expected = skipped(reader, 'no_stream');
    else if (reader.field === fields.any) expected = skipped(reader, 'any');
    else if (reader.field === fields.streamExists) expected = skipped(reader, 'stream_exists');
    else if (reader.field === fields.deadline) deadlineMs = decodeSeconds(reader.message());
    else if (reader.field === fields.within) deadlineMs = Date.now() + decodeSeconds(reader.message());
    else reader.skip();
  }
  if (identifier === null) throw new MalformedMessage('The stream is not named.');
  const stream = readStreamName(identifier);
  return { stream, nameFault: findNameFault(stream), identifier, expected, deadlineMs };
}

function skipped(reader: WireReader, expected: Expected): Expected {
  reader.skip();
  return expected;
}

/** Throws `MalformedMessage` when no stream can have the name. */
export function decodeStreamName(identifier: Buffer): string {
  const name = readStreamName(identifier);
  const fault = findNameFault(name);
  if (fault !== null) throw new MalformedMessage(fault);
  return name;
}

/** StreamIdentifier { bytes stream_name = 3 }. */
function readStreamName(identifier: Buffer): string {
  const reader = new WireReader(identifier);
  let name = '';
  while (reader.next()) {
    if (reader.field === 3) name = reader.text();
    else reader.skip();
  }
  return name;
}

function findNameFault(name: string): string | null {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `A stream name is at most ${MAX_NAME_BYTES} bytes of UTF-8.`;
  if (name === '') return 'The stream name is empty.';
  // PostgreSQL text cannot store NUL, and a name with one is a mistake of the caller.
  return name.includes('\0') ? 'The stream name holds a NUL character.' : null;
}

/** Timestamp and Duration { int64 seconds = 1, int32 nanos = 2 }, in ms. */
function decodeSeconds(reader: WireReader): number {
  let ms = 0;
  while (reader.next()) {
    if (reader.field === 1) ms += reader.varint() * 1000;
    else if (reader.field === 2) ms += reader.varint() / NANOSECONDS_PER_MS;
    else reader.skip();
  }
  return ms;
}

const EMPTY: Buffer = Buffer.alloc(0);

/** ProposedMessage { id = 1, map metadata = 2, custom_metadata = 3, data = 4 }; the same in both calls. */
function decodeEvent(reader: WireReader): ProposedEvent | BadEvent {
  let id: Buffer | null = null;
  let type: Buffer | null = null;
  let contentType: string | null = null;
  let metadata = EMPTY;
  let data = EMPTY;
  while (reader.next()) {
    if (reader.field === 1) id = decodeUuid(reader.message());
    else if (reader.field === 2) {
      const entry = decodeMapEntry(reader.message());
      if (entry.key === 'type') type = entry.value;
      else if (entry.key === 'content-type') contentType = entry.value.toString('latin1');
    } else if (reader.field === 3) metadata = reader.bytes();
    else if (reader.field === 4) data = reader.bytes();
    else reader.skip();
  }
  if (type === null || type.length === 0) return new BadEvent('An event has no type.', 'type');
  if (contentType === null) return new BadEvent('An event has no content type.', 'content-type');
  if (type.length > MAX_NAME_BYTES || type.includes(0) || !isUtf8(type)) {
    return new BadEvent(`An event type is at most ${MAX_NAME_BYTES} bytes of UTF-8 without NUL.`);
  }
  if (id === null || id.equals(NO_ID)) return new BadEvent('An event has no id, or one that is not a UUID.');
  return { id, type, isJson: contentType === JSON_CONTENT, metadata, data };
}

const NO_ID = Buffer.alloc(16);

function decodeMapEntry(reader: WireReader): { key: string; value: Buffer } {
  let key = '';
  let value = EMPTY;
  while (reader.next()) {
    if (reader.field === 1) key = reader.bytes().toString('latin1');
    else if (reader.field === 2) value = reader.bytes();
    else reader.skip();
  }
  return { key, value };
}

/** UUID { Structured structured = 1 { int64 most = 1, int64 least = 2 }, string string = 2 }. */
function decodeUuid(reader: WireReader): Buffer | null {
  let id: Buffer | null = null;
  while (reader.next()) {
    if (reader.field === 2) id = parseUuid(reader.bytes());
    else if (reader.field === 1) id = decodeStructuredUuid(reader.message());
    else reader.skip();
  }
  return id;
}

function decodeStructuredUuid(reader: WireReader): Buffer {
  let most = 0n;
  let least = 0n;
  while (reader.next()) {
    if (reader.field === 1) most = reader.bigVarint();
    else if (reader.field === 2) least = reader.bigVarint();
    else reader.skip();
  }
  return uuidFromHalves(most, least);
}
