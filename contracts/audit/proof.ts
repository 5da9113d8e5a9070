import { z } from 'zod';
import { FigureNameField } from '../values/figures.ts';
import { CalendarDate, Count, Timestamp, Uuid } from '../values/primitives.ts';
import { EntryHash } from './entry.ts';
import { LogDigest, PathStep, StreamHead } from './log-digest.ts';

/**
 * A bundle of events that proves a figure, as NDJSON: a line with the statement, then each event of its streams, from the
 * first on, then a line that ends it. Events after the moment are in it too, so that nothing can be left out.
 */

/** Streams of one statement. Its signed link names them. */
export const PROOF_STREAMS_MAX = 50;

const Revision = z.string().regex(/^\d{1,19}$/);

/** A stream, and the last event of it that was read for the statement. */
const ReadStream = z.strictObject({
  stream: z.string().meta({ description: 'Name of the stream.' }),
  revision: Revision.meta({ description: 'Revision of the last event that was read.' }),
});

/** Says what a figure was, as known at a moment. */
export const ProofStatement = z
  .strictObject({
    brand_id: Uuid.meta({ description: 'Uuid of the brand.' }),
    figure: FigureNameField,
    from: CalendarDate.nullable().meta({ description: 'First UTC day; null: the figure has no window.' }),
    to: CalendarDate.nullable().meta({ description: 'Last UTC day; null: the figure has no window.' }),
    as_of: Timestamp.meta({ description: 'The moment: events recorded by then count.' }),
    value: Count.meta({ description: 'The figure.' }),
    streams: z
      .array(ReadStream)
      .max(PROOF_STREAMS_MAX)
      .meta({ description: 'Streams whose events give the figure, with the last event read of each.' }),
  })
  .meta({ id: 'ProofStatement', description: 'A figure of a brand, as known at a moment.' });
export type ProofStatement = z.infer<typeof ProofStatement>;

export const PROOF_VERSION = 1;

export const ProofHeader = z.strictObject({
  kind: z.literal('proof'),
  proof_version: z.literal(PROOF_VERSION),
  statement: ProofStatement,
  rule: z.string(),
  /** `null` before the first digest: then nothing attests the events. */
  digest: LogDigest.nullable(),
  /** Streams that the digest covers. */
  heads: z.array(StreamHead.extend({ path: z.array(PathStep) })).max(PROOF_STREAMS_MAX),
});
export type ProofHeader = z.infer<typeof ProofHeader>;

export const ProofEvent = z.strictObject({
  kind: z.literal('event'),
  stream: z.string(),
  revision: Revision,
  id: z.string(),
  type: z.string(),
  position: z.string().nullable(),
  recorded_at: z.iso.datetime(),
  data: z.string(),
  schema_version: z.int().nullable(),
  metadata_sha256: EntryHash,
  /** Hash of the chain of the stream up to the event. */
  head: EntryHash,
});
export type ProofEvent = z.infer<typeof ProofEvent>;

export const ProofEnd = z.strictObject({ kind: z.literal('end'), events: Count });
