import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

export type ExcludedEvents = {
  readonly without: (events: readonly RecordedEvent[]) => readonly RecordedEvent[];
  readonly isSame: (other: ExcludedEvents) => boolean;
  readonly keys: ReadonlySet<string>;
};

const createExcludedEvents = (rows: readonly { stream: string; position: string }[]): ExcludedEvents => {
  const keys = new Set(rows.map(({ stream, position }) => `${position} ${stream}`));
  return {
    without: (events) =>
      keys.size === 0 ? events : events.filter(({ stream, position }) => !keys.has(`${position} ${stream}`)),
    isSame: (other) => keys.symmetricDifference(other.keys).size === 0,
    keys,
  };
};

export const readSkippedEvents = async (
  database: Database | Transaction,
  name: string,
): Promise<ExcludedEvents> => {
  const { rows } = await database.query<{ stream: string; position: string }>(
    'select stream, position from projector.skipped where projection = $1',
    [name],
  );
  return createExcludedEvents(rows);
};

export const readExcludedEvents = async (
  database: Database | Transaction,
  name: string,
): Promise<ExcludedEvents> => {
  const { rows } = await database.query<{ stream: string; position: string }>(
    `select stream, position from projector.skipped where projection = $1
     union all select stream, position from projector.parked where projection = $1`,
    [name],
  );
  return createExcludedEvents(rows);
};
