import { requireReadable, UnreadableEvent } from '#contracts/events/schema-registry.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { type Group, groupChanges } from './group-changes.ts';
import { type Catalog, enterSchema } from '../read-model-schema.ts';
import { writeGroup } from './write-changes.ts';

/**
 * The tables that a projection writes to, and the function that stores its checkpoint in the same
 * transaction.
 */
export type Target = {
  readonly projection: Projection;
  readonly schema: string;
  readonly catalog: Catalog;
  readonly saveCheckpoint: (client: Transaction, position: bigint, events: number) => Promise<void>;
};

/** Thrown for an event that cannot be applied. A database that cannot be reached throws other errors. */
export class PoisonEvent extends Error {
  readonly event: RecordedEvent;

  constructor(event: RecordedEvent, cause: unknown) {
    super(`${event.type} at ${event.position} in ${event.stream}: ${(cause as Error).message}`, { cause });
    this.name = 'PoisonEvent';
    this.event = event;
  }

  /** The schema version that a release must know to read the event; `null` when it failed for another reason. */
  get waitsForVersion(): number | null {
    return this.cause instanceof UnreadableEvent ? this.cause.version : null;
  }
}

/**
 * SQLSTATE classes of a server that restarts, disconnects or is overloaded. The batch is retried, not parked.
 */
const TRANSIENT = /^(08|53|57|58|40|55P03|25006|XX)/;
export const isTransient = (error: unknown): boolean => {
  // The message contains the stream name, which may hold any word: `traffic-socket.example`.
  if (error instanceof PoisonEvent) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return TRANSIENT.test(code);
  if (typeof code === 'string') return true;
  return error instanceof Error && /connection|terminat|timeout|socket|closed/i.test(error.message);
};

/**
 * Projects the events and groups their changes. Throws `PoisonEvent` for an event that cannot be projected.
 */
export const projectEvents = (projection: Projection, events: readonly RecordedEvent[]): Group[] => {
  const changes = events.map((event) => {
    try {
      return { stream: event.stream, changes: projection.project(requireReadable(event)) };
    } catch (error) {
      throw new PoisonEvent(event, error);
    }
  });
  return groupChanges(projection, changes);
};

const write = async (
  database: Database,
  target: Target,
  events: readonly RecordedEvent[],
  position: bigint,
): Promise<void> => {
  const groups = projectEvents(target.projection, events);
  await inTransaction(database, async (client) => {
    await enterSchema(client, target.schema);
    for (const group of groups) await writeGroup(client, target.projection, target.catalog, group);
    await target.saveCheckpoint(client, position, events.length);
  });
};

/**
 * Applies events and moves the checkpoint to `position` in one transaction. If that fails, the batch is
 * halved until the bad event is found, so one bad event costs a few transactions. Throws `PoisonEvent` for
 * it, after all events before it are applied.
 */
export const applyBatch = async (
  database: Database,
  target: Target,
  events: readonly RecordedEvent[],
  position: bigint,
): Promise<void> => {
  try {
    await write(database, target, events, position);
  } catch (error) {
    if (isTransient(error)) throw error;
    const only = events[0];
    if (events.length === 1 && only)
      throw error instanceof PoisonEvent ? error : new PoisonEvent(only, error);
    if (events.length === 0) throw error;
    const middle = Math.ceil(events.length / 2);
    const lastOfFirst = events[middle - 1] as RecordedEvent;
    await applyBatch(database, target, events.slice(0, middle), lastOfFirst.position);
    await applyBatch(database, target, events.slice(middle), position);
  }
};
