import type { RecordedEvent } from '#contracts/events/event.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projectEvents } from '#application/read-models/project-events.ts';
import { type Catalog, enterSchema } from '#application/read-models/schema.ts';
import { isCausedByEvent, PoisonEvent } from '#application/read-models/failures.ts';
import { writeGroup } from '#application/read-models/write-changes.ts';

/** `saveCheckpoint` throws `LeaseLost` unless this process may write. */
export type Target = {
  readonly projection: Projection;
  readonly schema: string;
  readonly catalog: Catalog;
  readonly saveCheckpoint: (client: Transaction, position: bigint, events: number) => Promise<void>;
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

/** Applies a batch; halves it after a failure. Throws `PoisonEvent` once all events before it are applied. */
export const applyBatch = async (
  database: Database,
  target: Target,
  events: readonly RecordedEvent[],
  position: bigint,
): Promise<void> => {
  try {
    await write(database, target, events, position);
  } catch (error) {
    if (!isCausedByEvent(error)) throw error;
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
