import { countedBytes } from '../append-stream.ts';
import type { RawEvent } from './raw-log.ts';

/** A copied event keeps its first position and time in its metadata, so that audit hashes stay unchanged. */

/** `toRecordedEvent` takes the mark out. */
const FIRST_RECORDED = '$firstRecorded';
const MARK_MAX_BYTES = 128;
const APPEND_MAX_BYTES = 1024 * 1024;

const OPENING_BRACE = 0x7b;
/** The mark stands first in the metadata. */
const MARK = /^\{"\$firstRecorded":(\{"position":"\d{1,20}","at":"[0-9TZ:.+-]{1,40}"\}),?/;

/** Commit position, and time in RFC 3339. */
export type FirstRecorded = { readonly position: string; readonly at: string };

type Sized = { readonly type: string; readonly data: Uint8Array; readonly metadata: Uint8Array };

type Metadata = Readonly<Record<string, unknown>>;

const isFirstRecorded = (value: unknown): value is FirstRecorded => {
  const { position, at } = (value ?? {}) as Metadata;
  return typeof position === 'string' && /^\d{1,20}$/.test(position) && typeof at === 'string';
};

/** `first` is `null` for an event that was not copied. */
export const splitMetadata = (
  metadata: unknown,
): { readonly metadata: unknown; readonly first: FirstRecorded | null } => {
  if (typeof metadata !== 'object' || metadata === null || !(FIRST_RECORDED in metadata)) {
    return { metadata, first: null };
  }
  const { [FIRST_RECORDED]: first, ...rest } = metadata as Metadata;
  return { metadata: rest, first: isFirstRecorded(first) ? first : null };
};

/** `null` for anything but a JSON object. */
const namesOf = (bytes: Uint8Array): readonly string[] | null => {
  if (bytes[0] !== OPENING_BRACE) return null;
  try {
    return Object.keys(JSON.parse(Buffer.from(bytes).toString('utf8')) as object);
  } catch {
    return null;
  }
};

/** The metadata must be a JSON object, and the event with the mark not too large. All copies of a log agree. */
export const canCarryMark = (event: Sized): boolean =>
  countedBytes(event) + MARK_MAX_BYTES <= APPEND_MAX_BYTES &&
  namesOf(event.metadata)?.includes(FIRST_RECORDED) === false;

/** The event must be able to carry a mark. */
export const addMark = (metadata: Uint8Array, { position, at }: FirstRecorded): Uint8Array => {
  const mark = `{"${FIRST_RECORDED}":${JSON.stringify({ position, at })}`;
  const separator = namesOf(metadata)?.length === 0 ? '' : ',';
  return Buffer.concat([Buffer.from(`${mark}${separator}`, 'utf8'), metadata.subarray(1)]);
};

/** `first` is `null` without a mark. */
export const removeMark = (
  metadata: Uint8Array,
): { readonly metadata: Uint8Array; readonly first: FirstRecorded | null } => {
  const start = Buffer.from(metadata.buffer, metadata.byteOffset, Math.min(metadata.length, MARK_MAX_BYTES));
  const found = MARK.exec(start.toString('latin1'));
  if (!found) return { metadata, first: null };
  const rest = metadata.subarray(found[0].length);
  return {
    metadata: Buffer.concat([Buffer.from([OPENING_BRACE]), rest]),
    first: JSON.parse(found[1] ?? 'null') as FirstRecorded,
  };
};

/** Removes the mark and restores the original position and time. */
export const portable = (event: RawEvent): RawEvent => {
  const { metadata, first } = removeMark(event.metadata);
  return first === null ? event : { ...event, metadata, position: BigInt(first.position), at: first.at };
};
