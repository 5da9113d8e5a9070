import { createHash } from 'node:crypto';
import { addMark, canCarryMark, removeMark } from '#platform/event-store/copy/first-recorded.ts';
import type { EncodedEvent } from '#platform/event-store/append/append-message.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';

/** The form of an event that is the same in every copy of its log. */

/** The event without a mark. Position and time are those at which it was first recorded. */
export const portable = (event: RawEvent): RawEvent => {
  const { metadata, first } = removeMark(event.metadata);
  return first === null ? event : { ...event, metadata, position: BigInt(first.position), at: first.at };
};

/**
 * SHA-256 over stream, revision, id, type, content type, data and metadata. Covers where and when the event was first
 * recorded too, where the event can carry that.
 */
export const portableHash = (event: RawEvent): string => {
  const { stream, revision, id, type, contentType, data, metadata, position, at } = portable(event);
  const origin = canCarryMark({ type, data, metadata }) ? [String(position), at] : [];
  const fields = [stream, String(revision), id, type, contentType, data.length, metadata.length, ...origin];
  return createHash('sha256').update(JSON.stringify(fields)).update(data).update(metadata).digest('hex');
};

/** Returns the event as a copy of the log holds it. An event that has no room for the mark stays unchanged. */
export const markedCopy = (event: RawEvent): EncodedEvent => {
  const { id, type, contentType, data, metadata, position, at } = portable(event);
  const isMarked = canCarryMark({ type, data, metadata });
  return {
    id,
    type,
    contentType,
    data,
    metadata: isMarked ? addMark(metadata, { position: String(position), at }) : metadata,
  };
};

/** Names an event for an operator. */
export const nameOf = ({ stream, revision, type }: Pick<RawEvent, 'stream' | 'revision' | 'type'>): string =>
  `${type} ${stream} ${revision}`;
