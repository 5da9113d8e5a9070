import { hash } from 'node:crypto';
import { z } from 'zod';
import { Actor, categoryOf, idOf, type RecordedEvent } from '../events/event.ts';
import { Timestamp } from '../values/primitives.ts';
import { canonicalJson } from './canonical.ts';

/** Stream categories that belong to one workspace. The events of these streams form its history. */
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
  'signIn',
  'connection',
  'brandRequests',
] as const;

/** A 64-bit position as a decimal string, because it exceeds what a JSON number can hold. */
const Position = z.string().regex(/^(0|[1-9][0-9]{0,19})$/, 'a whole number as text');
export const EntryHash = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hexadecimal digits');

/** Fields of one event that the hash of its entry covers, besides the sequence number. */
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

/** The previous hash of the first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/**
 * Returns the hash of an entry: SHA-256 in lower-case hexadecimal. It covers three lines joined by line feeds: the
 * previous entry's hash, the sequence number, and the canonical text of the record. The read model computes the
 * same hash in SQL.
 */
export const chainHash = (previous: string, sequence: number, recordText: string): string =>
  hash('sha256', `${previous}\n${sequence}\n${recordText}`, 'hex');

export const canonicalRecordText = ({ sequence: _sequence, hash: _hash, ...record }: HistoryEntry): string =>
  canonicalJson(record);

/** Returns the workspace of an event: from its metadata if set, otherwise from its stream name. */
export const workspaceIdOf = (event: RecordedEvent): string =>
  event.metadata.workspace_id ?? (idOf(event.stream).split('+', 1)[0] as string);

/** Streams of a workspace start with the workspace id, then `+<id>` where a category has several of them. */
export const toHistoryRecord = (event: RecordedEvent): HistoryRecord => {
  const { metadata } = event;
  return {
    workspace_id: workspaceIdOf(event),
    fact_id: event.id,
    // A copied event keeps its first position, so that hashes of entries stay unchanged.
    position: (event.firstPosition ?? event.position).toString(),
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
