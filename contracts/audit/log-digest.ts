import { z } from 'zod';
import { Count, Timestamp } from '../values/primitives.ts';
import { EntryHash } from './entry.ts';

/**
 * Signed digests of the log. Each stream has a chain of hashes over its events; the last one of each stream is a leaf of
 * a Merkle tree, whose root a digest signs. So events of a stream up to a digest are proved whole: none can be altered,
 * left out, repeated or moved without another root.
 */

/** A number has one form, so that texts of it can be compared. */
export const REVISION = /^(0|[1-9]\d{0,18})$/;

/** The last event of a stream that a digest covers, with the hash of the chain up to it. */
export const StreamHead = z.strictObject({
  stream: z.string().meta({ description: 'Name of the stream.' }),
  revision: z.string().regex(REVISION).meta({ description: 'Revision of its last event in the digest.' }),
  head: EntryHash.meta({ description: 'Hash of the chain of its events up to this one.' }),
});
export type StreamHead = z.infer<typeof StreamHead>;

/** A sibling on the way to the root. */
export const PathStep = z.strictObject({
  side: z.enum(['left', 'right']).meta({ description: 'Side of the sibling.' }),
  hash: EntryHash.meta({ description: 'Hash of the sibling.' }),
});
export type PathStep = z.infer<typeof PathStep>;

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
