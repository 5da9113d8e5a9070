import { hash } from 'node:crypto';
import { z } from 'zod';
import { Count, Timestamp } from '../values/primitives.ts';
import { canonicalJson } from './canonical.ts';
import { EntryHash, GENESIS_HASH } from './entry.ts';

/**
 * Signed digests of the log. Each stream has a chain of hashes over its events; the last one of each stream is a leaf of
 * a Merkle tree, whose root a digest signs. So events of a stream up to a digest are proved whole: none can be altered,
 * left out, repeated or moved without another root.
 */

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

const sha256 = (text: string | Buffer): string => hash('sha256', text, 'hex');

export const eventHash = (event: DigestedEvent): string => {
  const { stream, revision, id, type, position, recorded_at, data, schema_version, metadata_sha256 } = event;
  const origin = position === null ? [] : [position, recorded_at];
  return sha256(
    JSON.stringify([stream, revision, id, type, sha256(data), schema_version, metadata_sha256, ...origin]),
  );
};

/** The chain of a stream begins with `GENESIS_HASH`. */
export const chainEvent = (previous: string, event: DigestedEvent): string =>
  sha256(`${previous}\n${eventHash(event)}`);

/** The last event of a stream that a digest covers, with the hash of the chain up to it. */
export const StreamHead = z.strictObject({
  stream: z.string().meta({ description: 'Name of the stream.' }),
  revision: z
    .string()
    .regex(/^\d{1,19}$/)
    .meta({ description: 'Revision of its last event in the digest.' }),
  head: EntryHash.meta({ description: 'Hash of the chain of its events up to this one.' }),
});
export type StreamHead = z.infer<typeof StreamHead>;

export const bucketOf = (stream: string): number =>
  Number.parseInt(sha256(stream).slice(0, BUCKET_DIGITS), 16);

/** Leaves and nodes have different prefixes (RFC 9162, section 2.1.1), so neither can be taken for the other. */
export const leafHash = ({ stream, revision, head }: StreamHead): string =>
  sha256(Buffer.from(`\0${JSON.stringify([stream, revision, head])}`, 'utf8'));

const nodeHash = (left: string, right: string): string => sha256(Buffer.from(`01${left}${right}`, 'hex'));

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

/** A sibling on the way to the root. */
export const PathStep = z.strictObject({
  side: z.enum(['left', 'right']).meta({ description: 'Side of the sibling.' }),
  hash: EntryHash.meta({ description: 'Hash of the sibling.' }),
});
export type PathStep = z.infer<typeof PathStep>;

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

/** A signed statement about the whole log up to a position. */
export const LogDigest = z
  .strictObject({
    digest_version: z.literal(1).meta({ description: 'Version of this form.' }),
    sequence: Count.min(1).meta({ description: 'Number of the digest, from 1 without gaps.' }),
    made_at: Timestamp.meta({ description: 'When it was signed.' }),
    recorded_until: Timestamp.meta({ description: 'When the last event that it covers was recorded.' }),
    events: Count.meta({ description: 'Events of the log up to then.' }),
    streams: Count.meta({ description: 'Streams with such an event; each is a leaf of the tree.' }),
    root: EntryHash.meta({ description: 'Root of the Merkle tree over the streams.' }),
    previous_digest: EntryHash.meta({
      description: 'SHA-256 of the canonical text of the digest before it; 64 zeros for the first.',
    }),
    public_key_id: z.string().meta({ description: 'First 16 digits of the SHA-256 of the public key.' }),
    public_key: z.base64().meta({
      description:
        'Ed25519 key that checks the signature, as SPKI in base64. It proves nothing by itself: compare it with the one that you know.',
    }),
    signature: z.base64().meta({
      description: 'Ed25519 signature over the canonical text (RFC 8785) of all other fields.',
    }),
  })
  .meta({ id: 'LogDigest', description: 'A signed digest of the log.' });
export type LogDigest = z.infer<typeof LogDigest>;

export const digestSigningText = ({ signature: _signature, ...rest }: LogDigest): string =>
  canonicalJson(rest);

export const digestHash = (digest: LogDigest | null): string =>
  digest === null ? GENESIS_HASH : sha256(canonicalJson(digest));
