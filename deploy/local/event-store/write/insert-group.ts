import type { QueryConfig } from 'pg';
import type { StoredEvent } from '../model.ts';
import { POSTGRES_EPOCH_MS } from '../storage/event-pages.ts';
import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';

/**
 * One statement for one round trip, commit and disk sync. Columns are binary arrays, because text would have to be
 * escaped and parsed.
 */
const INSERT_GROUP = `
  insert into event_store.event (position, revision, id, created, is_json, stream, type, metadata, data)
  select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::boolean[], $6::text[],
                       $7::text[], $8::bytea[], $9::bytea[])`;

const BOOLEAN = 16;
const BYTEA = 17;
const BIGINT = 20;
const TEXT = 25;
const TIMESTAMPTZ = 1184;
const UUID = 2950;

export function insertGroup(events: readonly StoredEvent[]): QueryConfig {
  return {
    name: 'insert-group',
    text: INSERT_GROUP,
    values: [
      int64Array(BIGINT, events, (event) => event.position),
      int64Array(BIGINT, events, (event) => event.revision),
      bytesArray(UUID, events, (event) => event.id),
      int64Array(TIMESTAMPTZ, events, (event) => (event.createdMs - POSTGRES_EPOCH_MS) * 1000),
      booleanArray(events, (event) => event.isJson),
      bytesArray(TEXT, events, (event) => event.stream),
      bytesArray(TEXT, events, (event) => event.type),
      bytesArray(BYTEA, events, (event) => event.metadata),
      bytesArray(BYTEA, events, (event) => event.data),
    ],
  };
}

/** One dimension, no nulls, type, number of elements, first index 1. */
const HEADER_BYTES = 20;

function arrayOf(type: number, count: number, contentBytes: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + 4 * count + contentBytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(count, 12);
  array.writeInt32BE(1, 16);
  return array;
}

function int64Array(
  type: number,
  events: readonly StoredEvent[],
  value: (event: StoredEvent) => number,
): Buffer {
  const array = arrayOf(type, events.length, 8 * events.length);
  let at = HEADER_BYTES;
  for (const event of events) {
    const number = value(event);
    const isTombstone = number === TOMBSTONE_REVISION;
    array.writeInt32BE(8, at);
    array.writeInt32BE(isTombstone ? 0x7fffffff : Math.floor(number / 2 ** 32), at + 4);
    array.writeUInt32BE(isTombstone ? 0xffffffff : number % 2 ** 32, at + 8);
    at += 12;
  }
  return array;
}

function bytesArray(
  type: number,
  events: readonly StoredEvent[],
  value: (event: StoredEvent) => Buffer,
): Buffer {
  let contentBytes = 0;
  for (const event of events) contentBytes += value(event).length;
  const array = arrayOf(type, events.length, contentBytes);
  let at = HEADER_BYTES;
  for (const event of events) {
    const bytes = value(event);
    array.writeInt32BE(bytes.length, at);
    array.set(bytes, at + 4);
    at += 4 + bytes.length;
  }
  return array;
}

function booleanArray(events: readonly StoredEvent[], value: (event: StoredEvent) => boolean): Buffer {
  const array = arrayOf(BOOLEAN, events.length, events.length);
  let at = HEADER_BYTES;
  for (const event of events) {
    array.writeInt32BE(1, at);
    array[at + 4] = value(event) ? 1 : 0;
    at += 5;
  }
  return array;
}
