import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';

/** What `$$<stream>` says about a stream: which of its events reads still show. $all shows them all. */
export interface StreamMetadata {
  readonly maxCount: number | null;
  readonly maxAgeMs: number | null;
  /** Events below this revision are hidden; `TOMBSTONE_REVISION` or more means softly deleted. */
  readonly truncateBefore: number | null;
  /** Everything that was set, kept when a softly deleted stream is brought back. */
  readonly all: Readonly<Record<string, unknown>>;
}

export const METADATA_TYPE = '$metadata';
const METADATA_PREFIX = '$$';

/** The JSON that softly deletes a stream. The number is 2^63 - 1, which no JavaScript number can spell. */
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

/** Metadata that is not a JSON object describes nothing, as on the real server. */
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

/** The metadata of a softly deleted stream that is written to again: everything before stays hidden. */
export function revivedJson(metadata: StreamMetadata | undefined, firstVisible: number): Buffer {
  return Buffer.from(JSON.stringify({ ...metadata?.all, $tb: firstVisible }), 'utf8');
}

/** The lowest revision that reads show, given the last revision of the stream. */
export function firstVisibleRevision(
  stream: string,
  metadata: StreamMetadata | undefined,
  last: number,
): number {
  // Of a metadata stream only the newest event counts.
  const maxCount = isMetadataStream(stream) ? 1 : (metadata?.maxCount ?? null);
  const byCount = maxCount === null ? 0 : last - maxCount + 1;
  return Math.max(0, byCount, metadata?.truncateBefore ?? 0);
}
