import type { Event } from '#contracts/events/event.ts';
import type { EventMetadata } from '#contracts/events/event.ts';
import { type EncodedEvent, JSON_CONTENT } from './append-message.ts';

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
