import { createHash } from 'node:crypto';
import { addMark, canCarryMark, removeMark } from '#platform/event-store/copy/first-recorded.ts';
import type { EncodedEvent } from '#platform/event-store/append/append-message.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';

/** Removes the mark and restores the original position and time. */
export const portable = (event: RawEvent): RawEvent => {
  const { metadata, first } = removeMark(event.metadata);
  return first === null ? event : { ...event, metadata, position: BigInt(first.position), at: first.at };
};

/** SHA-256 over all fields, with the original position and time if the event carries them. */
export const portableHash = (event: RawEvent): string => {
  const { stream, revision, id, type, contentType, data, metadata, position, at } = portable(event);
  const origin = canCarryMark({ type, data, metadata }) ? [String(position), at] : [];
  const fields = [stream, String(revision), id, type, contentType, data.length, metadata.length, ...origin];
  return createHash('sha256').update(JSON.stringify(fields)).update(data).update(metadata).digest('hex');
};

/** Returns the event with its original position and time. Events without space for the mark stay unchanged. */
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

export const nameOf = ({ stream, revision, type }: Pick<RawEvent, 'stream' | 'revision' | 'type'>): string =>
  `${type} ${stream} ${revision}`;
