import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { RawEvent } from '#platform/event-store/copy/raw-log.ts';
import { portable } from '../transfer/portable-event.ts';

/**
 * A log as NDJSON in gzip members. Each member ends with a checksum that covers the checksum before it. A reader thus
 * detects truncation, changes and reordering, and an interrupted export continues after the last whole member.
 */
export const FORMAT = 'ad-intelligence-log';
export const VERSION = 1;
export const BLOCK_MAX_EVENTS = 1_000;
export const BLOCK_MAX_BYTES = 4 * 1024 * 1024;
export const LINE_MAX_BYTES = 32 * 1024 * 1024;
/** JSON bytes per byte of content above which content is written as base64. */
const TEXT_MAX_GROWTH = 1.5;

const Whole = z.string().regex(/^\d{1,20}$/);
const Bytes = z.union([z.string(), z.strictObject({ base64: z.base64() })]);

export const Header = z.strictObject({ format: z.literal(FORMAT), version: z.literal(VERSION) });
const EventLine = z.strictObject({
  stream: z.string().min(1),
  revision: Whole,
  position: Whole,
  at: z.iso.datetime(),
  id: z.guid(),
  type: z.string().min(1),
  content_type: z.string(),
  data: Bytes,
  metadata: Bytes,
});
/** The last line of a block. `events` counts from the beginning of the file. */
const Checksum = z.strictObject({
  checksum: z.string(),
  events: z.int(),
  end: z.literal(true).optional(),
});

/** Returns text where it keeps the bytes and is short: it compresses and reads better than base64. */
const bytesField = (bytes: Uint8Array): z.infer<typeof Bytes> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  const isKept = Buffer.from(text, 'utf8').equals(buffer);
  const isShort = isKept && Buffer.byteLength(JSON.stringify(text)) <= TEXT_MAX_GROWTH * buffer.length + 2;
  return isShort ? text : { base64: buffer.toString('base64') };
};
const fieldBytes = (field: z.infer<typeof Bytes>): Buffer =>
  typeof field === 'string' ? Buffer.from(field, 'utf8') : Buffer.from(field.base64, 'base64');

/** Writes the original position and time, so that the file of a copy equals that of the original. */
export const lineOf = (event: RawEvent): string => {
  const { stream, revision, position, at, id, type, contentType, data, metadata } = portable(event);
  const line: z.infer<typeof EventLine> = {
    stream,
    revision: String(revision),
    position: String(position),
    at,
    id,
    type,
    content_type: contentType,
    data: bytesField(data),
    metadata: bytesField(metadata),
  };
  return JSON.stringify(line);
};

export type Line =
  | { readonly kind: 'event'; readonly event: RawEvent }
  | {
      readonly kind: 'checksum';
      readonly checksum: string;
      readonly events: number;
      readonly isEnd: boolean;
    };

/** Parses a line after the first; `null` when it is neither an event nor a checksum. */
export const parseLine = (value: unknown): Line | null => {
  const sum = Checksum.safeParse(value).data;
  if (sum) return { kind: 'checksum', checksum: sum.checksum, events: sum.events, isEnd: sum.end === true };
  const line = EventLine.safeParse(value).data;
  if (!line) return null;
  const { content_type: contentType, revision, position, data, metadata, ...rest } = line;
  const event: RawEvent = {
    ...rest,
    contentType,
    revision: BigInt(revision),
    position: BigInt(position),
    data: fieldBytes(data),
    metadata: fieldBytes(metadata),
  };
  return { kind: 'event', event };
};

export const checksumLine = (checksum: string, events: number, isEnd: boolean): string =>
  JSON.stringify({ checksum, events, ...(isEnd && { end: true }) });

/** Each checksum covers the checksum before it; empty for the first block. */
export const beginChecksum = (before: string): Hash => createHash('sha256').update(`${before}\n`);

export const damaged = (file: string, what: string, events: number): Refusal =>
  new Refusal(
    'invalid_input',
    `${file} is damaged: ${what}, after ${events} events. Nothing was taken from it. Use another copy of the file.`,
  );
