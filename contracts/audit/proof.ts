import { z } from 'zod';
import { RadarItem } from '../resources/workspace/radar.ts';
import { FIGURES, FigureNameField } from '../values/figures.ts';
import { CalendarDate, Count, LibraryId, Timestamp, Uuid, WorkspaceId } from '../values/primitives.ts';
import { AD_RULE } from './ad-facts.ts';
import { EntryHash } from './entry.ts';
import { LogDigest, PathStep, REVISION, StreamHead } from './log-digest.ts';

/**
 * A bundle of events that proves a statement, as NDJSON: a line with the statement, then each event of its streams, from the
 * first on, then a line that ends it. Events after the moment are in it too, so that nothing can be left out.
 */

/** Streams of one statement. Its signed link names them. */
export const PROOF_STREAMS_MAX = 50;

const Revision = z.string().regex(REVISION);

/** A stream, and the last event of it that was read for the statement. */
const ReadStream = z.strictObject({
  stream: z.string().meta({ description: 'Name of the stream.' }),
  revision: Revision.meta({ description: 'Revision of the last event that was read.' }),
});

const sharedShape = {
  as_of: Timestamp.meta({ description: 'The moment: events recorded by then count.' }),
  streams: z
    .array(ReadStream)
    .max(PROOF_STREAMS_MAX)
    .meta({ description: 'Streams whose events give it, with the last event read of each.' }),
} as const;

/** Says what a figure was, as known at a moment. */
export const FigureStatement = z
  .strictObject({
    about: z.literal('figure').meta({ description: 'Subject of the statement.' }),
    brand_id: Uuid.meta({ description: 'Uuid of the brand.' }),
    figure: FigureNameField,
    from: CalendarDate.nullable().meta({ description: 'First UTC day; null: the figure has no window.' }),
    to: CalendarDate.nullable().meta({ description: 'Last UTC day; null: the figure has no window.' }),
    value: Count.meta({ description: 'The figure.' }),
    ...sharedShape,
  })
  .meta({ id: 'FigureStatement', description: 'A figure of a brand, as known at a moment.' });
export type FigureStatement = z.infer<typeof FigureStatement>;

/** Says what the radar told of an ad. Its streams are of the corpus only, so it is the same in each workspace. */
export const RadarStatement = z
  .strictObject({
    about: z.literal('radar_item').meta({ description: 'Subject of the statement.' }),
    item: RadarItem,
    ...sharedShape,
  })
  .meta({ id: 'RadarStatement', description: 'An item of the radar, as known at a moment.' });
export type RadarStatement = z.infer<typeof RadarStatement>;

/** Names a delivery. Its content is in the event that queued it. */
export const DeliveryStatement = z
  .strictObject({
    about: z.literal('delivery').meta({ description: 'Subject of the statement.' }),
    workspace_id: WorkspaceId.meta({ description: 'The workspace of the rule.' }),
    alert_id: Uuid.meta({ description: 'Id of the rule.' }),
    delivery_id: Uuid.meta({ description: 'Value of `webhook-id` in each attempt.' }),
    ...sharedShape,
  })
  .meta({ id: 'DeliveryStatement', description: 'A delivery of an alert rule, as it was queued.' });
export type DeliveryStatement = z.infer<typeof DeliveryStatement>;

/** Names an ad. What was observed of it is in its events. */
export const AdStatement = z
  .strictObject({
    about: z.literal('ad').meta({ description: 'Subject of the statement.' }),
    ad_id: LibraryId.meta({ description: 'Library id of the ad.' }),
    picture_sha256: EntryHash.nullable().meta({
      description: 'SHA-256 of the archived picture on the page; null: no picture of it is stored.',
    }),
    ...sharedShape,
  })
  .meta({ id: 'AdStatement', description: 'An ad as observed, as known at a moment.' });
export type AdStatement = z.infer<typeof AdStatement>;

export const ProofStatement = z.discriminatedUnion('about', [
  FigureStatement,
  RadarStatement,
  DeliveryStatement,
  AdStatement,
]);
export type ProofStatement = z.infer<typeof ProofStatement>;

/** The rule of a statement in a sentence. */
export const ruleOf = (statement: ProofStatement): string => {
  switch (statement.about) {
    case 'figure':
      return FIGURES[statement.figure].rule;
    case 'radar_item':
      return RADAR_RULES[statement.item.type];
    case 'delivery':
      return DELIVERY_RULE;
    case 'ad':
      return AD_RULE;
  }
};

const RADAR_RULES: Readonly<Record<RadarItem['type'], string>> = {
  ad_started:
    'An ad first seen, which began after the last complete scan that would have shown it, less one day. Ads of the first complete scan of a page are not news.',
  ad_stopped:
    'An ad observed running and then confirmed inactive: the library says so, or two complete scans in a row, at least 20 hours apart, cover its page and country without it.',
  destination_changed: 'An ad whose link leads elsewhere than at the last scan, tracking parameters apart.',
};

const DELIVERY_RULE =
  'Each item was observed at a brand of the rule while the rule was on, had this trigger, and its workspace tracked the brand.';

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

/** An event of which a large page has the hash alone, which is all that the chain needs. */
export const HiddenEvent = z.strictObject({
  kind: z.literal('hidden'),
  stream: z.string(),
  revision: Revision,
  sha256: EntryHash,
  head: EntryHash,
});
export type HiddenEvent = z.infer<typeof HiddenEvent>;

export const ProofEnd = z.strictObject({ kind: z.literal('end'), events: Count });
export type ProofEnd = z.infer<typeof ProofEnd>;
