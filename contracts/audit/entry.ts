import { hash } from 'node:crypto';
import { z } from 'zod';
import { Actor, categoryOf, idOf, type RecordedEvent } from '../events/event.ts';
import { Timestamp } from '../values/primitives.ts';
import { canonicalJson } from './canonical.ts';

/** Every stream category that belongs to one workspace: the events of these make up its history. */
export const WORKSPACE_CATEGORIES = [
  'workspace',
  'tracking',
  'apiKeys',
  'collection',
  'saved',
  'note',
  'report',
  'brief',
  'alertRule',
  'alertDelivery',
  'webhookSecret',
] as const;

/** 64-bit positions exceed what a JSON number holds, so they are texts. */
const Position = z.string().regex(/^(0|[1-9][0-9]{0,19})$/, 'a whole number as text');
export const EntryHash = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hexadecimal digits');

/** What an event says about itself; everything of an entry that its hash is made over, but its place. */
const recordShape = {
  workspace_id: z.string(),
  fact_id: z.string(),
  position: Position.meta({ description: 'Where the event stands in the log of the whole service.' }),
  recorded_at: Timestamp.meta({ description: 'When the log took the event.' }),
  type: z.string(),
  schema_version: z.int(),
  actor: Actor.meta({ description: 'Who caused it.' }),
  request_id: z.string(),
  correlation_id: z.string(),
  causation_id: z.string(),
  resource: z.strictObject({
    category: z.string(),
    id: z.string(),
    revision: Position.meta({ description: 'Number of the event in its stream, from 0.' }),
  }),
  data: z.json().meta({ description: 'The event as recorded; what is personal in it is sealed.' }),
} as const;

export const HistoryRecord = z.strictObject(recordShape);
export type HistoryRecord = z.infer<typeof HistoryRecord>;

/** One entry of a workspace's history. */
export const HistoryEntry = z.strictObject({
  sequence: z
    .int()
    .min(1)
    .meta({ description: 'Place in the history of the workspace, from 1, without gaps.' }),
  ...recordShape,
  hash: EntryHash.meta({ description: 'Chains the entry to the one before it.' }),
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** Stands for the hash of the entry before the first. */
export const GENESIS = '0'.repeat(64);

/**
 * The hash of an entry: SHA-256, in lower-case hexadecimal, over three lines joined by line feeds: the hash of the
 * entry before, the sequence number, and the canonical text of the record. The read model computes the same in SQL.
 */
export const chainHash = (previous: string, sequence: number, recordText: string): string =>
  hash('sha256', `${previous}\n${sequence}\n${recordText}`, 'hex');

export const recordTextOf = ({ sequence: _sequence, hash: _hash, ...record }: HistoryEntry): string =>
  canonicalJson(record);

/** The workspace of an event: what its metadata says, or else what its stream is named after. */
export const workspaceIdOf = (event: RecordedEvent): string =>
  event.metadata.workspace_id ?? (idOf(event.stream).split('+', 1)[0] as string);

/** A workspace's streams are named by the workspace, with `+<id>` where it has several of a category. */
export const historyRecordOf = (event: RecordedEvent): HistoryRecord => {
  const { metadata } = event;
  return {
    workspace_id: workspaceIdOf(event),
    fact_id: event.id,
    position: event.position.toString(),
    recorded_at: event.recordedAt.toISOString(),
    type: event.type,
    schema_version: metadata.schema_version,
    actor: metadata.actor,
    request_id: metadata.request_id,
    correlation_id: metadata.$correlationId,
    causation_id: metadata.$causationId,
    resource: {
      category: categoryOf(event.stream),
      id: idOf(event.stream),
      revision: event.revision.toString(),
    },
    data: event.data as HistoryRecord['data'],
  };
};
