import { canonicalJson } from './canonical.ts';
import type { LogDigest, PathStep, StreamHead } from './log-digest.ts';
import { sha256 } from './sha256.ts';

/** Hashes of the log, as its digests sign them. The page of an ad runs this code in browsers. */

/** The chain of a stream begins with this hash. */
export const CHAIN_START = '0'.repeat(64);

/** Leaves are spread over buckets by the hash of their stream, so that a path needs one bucket and not all streams. */
export const BUCKETS = 4_096;
const BUCKET_DIGITS = 3;

/** The fields that the hash of an event covers. Positions and times are those of the first recording, also in a copied log. */
export type DigestedEvent = {
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  readonly type: string;
  /** `null` for an event too large to carry its first position through a copy; its time is then not covered either. */
  readonly position: string | null;
  /** RFC 3339. */
  readonly recorded_at: string;
  /** The bytes of the event as text. */
  readonly data: string;
  /** `null` for an event of the first version. */
  readonly schema_version: number | null;
  /** SHA-256 of the metadata, which names actors of other workspaces and is not shown. */
  readonly metadata_sha256: string;
};

export const eventHash = (event: DigestedEvent): string => {
  const { stream, revision, id, type, position, recorded_at, data, schema_version, metadata_sha256 } = event;
  const origin = position === null ? [] : [position, recorded_at];
  return sha256(
    JSON.stringify([stream, revision, id, type, sha256(data), schema_version, metadata_sha256, ...origin]),
  );
};

/** Continues the chain of a stream by an event. */
export const chainHash = (previous: string, hashOfEvent: string): string =>
  sha256(`${previous}\n${hashOfEvent}`);
export const chainEvent = (previous: string, event: DigestedEvent): string =>
  chainHash(previous, eventHash(event));

export const bucketOf = (stream: string): number =>
  Number.parseInt(sha256(stream).slice(0, BUCKET_DIGITS), 16);

/** Leaves and nodes have different prefixes (RFC 9162, section 2.1.1), so neither can be taken for the other. */
export const leafHash = ({ stream, revision, head }: StreamHead): string =>
  sha256(`\0${JSON.stringify([stream, revision, head])}`);

const nodeHash = (left: string, right: string): string => {
  const digits = `01${left}${right}`.match(/../g) ?? [];
  return sha256(Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16)));
};

export const EMPTY_ROOT = sha256('');

/** An odd node at the end of a level moves up unchanged, which gives the trees of RFC 9162. */
const levelAbove = (nodes: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(nodes.length / 2) }, (_, index) => {
    const [left = '', right] = nodes.slice(index * 2, index * 2 + 2);
    return right === undefined ? left : nodeHash(left, right);
  });

export const merkleRoot = (hashes: readonly string[]): string => {
  let level = hashes;
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? EMPTY_ROOT;
};

export const merklePath = (hashes: readonly string[], index: number): readonly PathStep[] => {
  const path: PathStep[] = [];
  for (let level = hashes, at = index; level.length > 1; level = levelAbove(level), at = Math.floor(at / 2)) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push({ side: at % 2 === 0 ? 'right' : 'left', hash: sibling });
  }
  return path;
};

export const rootOfPath = (leaf: string, path: readonly PathStep[]): string =>
  path.reduce(
    (node, { side, hash: other }) => (side === 'left' ? nodeHash(other, node) : nodeHash(node, other)),
    leaf,
  );

export const digestSigningText = ({ signature: _signature, ...rest }: LogDigest): string =>
  canonicalJson(rest);

export const digestHash = (digest: LogDigest | null): string =>
  digest === null ? CHAIN_START : sha256(canonicalJson(digest));
