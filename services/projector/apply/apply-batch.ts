import type { RecordedEvent } from '#contracts/events/event.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { type Group, planBatch } from './group-changes.ts';
import { type Catalog, enterSchema } from '../read-model-schema.ts';
import { writeGroup } from './write-changes.ts';

/** Where a projection's rows go, and how its checkpoint is kept with them. */
export type Target = {
  readonly projection: Projection;
  readonly schema: string;
  readonly catalog: Catalog;
  readonly saveCheckpoint: (client: Transaction, position: bigint, events: number) => Promise<void>;
};

/** Events that cannot be applied, as opposed to a database that cannot be reached. */
export class PoisonEvent extends Error {
  readonly event: RecordedEvent;

  constructor(event: RecordedEvent, cause: unknown) {
    super(`${event.type} at ${event.position} in ${event.stream}: ${(cause as Error).message}`, { cause });
    this.name = 'PoisonEvent';
    this.event = event;
  }
}

/** SQL states of a server that goes, comes or is overloaded: the batch is tried again, not parked. */
const TRANSIENT = /^(08|53|57|58|40|55P03|25006|XX)/;
export const isTransient = (error: unknown): boolean => {
  // Its text names the stream, and a stream may be called anything: `traffic-socket.example`.
  if (error instanceof PoisonEvent) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return TRANSIENT.test(code);
  if (typeof code === 'string') return true;
  return error instanceof Error && /connection|terminat|timeout|socket|closed/i.test(error.message);
};

/** What the events change, grouped; throws `PoisonFact` for one that cannot be projected. */
export const planEvents = (projection: Projection, events: readonly RecordedEvent[]): Group[] => {
  const changes = events.map((event) => {
    try {
      return { stream: event.stream, changes: projection.project(event) };
    } catch (error) {
      throw new PoisonEvent(event, error);
    }
  });
  return planBatch(projection, changes);
};

const write = async (
  database: Database,
  target: Target,
  events: readonly RecordedEvent[],
  position: bigint,
): Promise<void> => {
  const groups = planEvents(target.projection, events);
  await inTransaction(database, async (client) => {
    await enterSchema(client, target.schema);
    for (const group of groups) await writeGroup(client, target.projection, target.catalog, group);
    await target.saveCheckpoint(client, position, events.length);
  });
};

/**
 * Applies events and moves the checkpoint to `position` in one transaction. An event that cannot be applied is
 * found by halving, so that one bad event costs a few transactions, and is thrown as `PoisonFact` after all
 * events before it are applied.
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
