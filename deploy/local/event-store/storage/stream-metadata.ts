import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';

/** From the stream `$$<stream>`: which events its reads still return. Reads of $all return all. */
export interface StreamMetadata {
  readonly maxCount: number | null;
  readonly maxAgeMs: number | null;
  /** Events below it are hidden; `TOMBSTONE_REVISION` or more means softly deleted. */
  readonly truncateBefore: number | null;
  /** Kept when a softly deleted stream is revived. */
  readonly all: Readonly<Record<string, unknown>>;
}

export const METADATA_TYPE = '$metadata';
const METADATA_PREFIX = '$$';

/** 2^63 - 1, which a JavaScript number cannot represent. */
export const SOFT_DELETED_JSON = '{"$tb":9223372036854775807}';

export function metadataStreamOf(stream: string): string {
  return METADATA_PREFIX + stream;
}

export function isMetadataStream(stream: string): boolean {
  return stream.startsWith(METADATA_PREFIX);
}

export function describedStream(metadataStream: string): string {
  return metadataStream.slice(METADATA_PREFIX.length);
}

/** Ignores JSON that is not an object, like the real server. */
export function parseMetadata(data: Buffer): StreamMetadata {
  const all = parseObject(data);
  const maxAgeS = nonNegative(all['$maxAge']);
  return {
    maxCount: nonNegative(all['$maxCount']),
    maxAgeMs: maxAgeS === null ? null : maxAgeS * 1000,
    truncateBefore: nonNegative(all['$tb']),
    all,
  };
}

function parseObject(data: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function nonNegative(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}

export function isSoftDeleted(metadata: StreamMetadata | undefined): boolean {
  return (metadata?.truncateBefore ?? 0) >= TOMBSTONE_REVISION;
}

/** Earlier events of a revived stream stay hidden. */
export function revivedJson(metadata: StreamMetadata | undefined, firstVisible: number): Buffer {
  return Buffer.from(JSON.stringify({ ...metadata?.all, $tb: firstVisible }), 'utf8');
}

export function firstVisibleRevision(
  stream: string,
  metadata: StreamMetadata | undefined,
  last: number,
): number {
  // A metadata stream shows only its newest event.
  const maxCount = isMetadataStream(stream) ? 1 : (metadata?.maxCount ?? null);
  const byCount = maxCount === null ? 0 : last - maxCount + 1;
  return Math.max(0, byCount, metadata?.truncateBefore ?? 0);
}
