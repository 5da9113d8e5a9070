import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** Events that a projection is made without. */
export type LeftOut = {
  readonly isLeftOut: (event: RecordedEvent) => boolean;
  readonly isSame: (other: LeftOut) => boolean;
  readonly keys: ReadonlySet<string>;
};

const leftOut = (rows: readonly { stream: string; position: string }[]): LeftOut => {
  const keys = new Set(rows.map(({ stream, position }) => `${position} ${stream}`));
  return {
    isLeftOut: ({ stream, position }) => keys.has(`${position} ${stream}`),
    isSame: (other) => keys.symmetricDifference(other.keys).size === 0,
    keys,
  };
};

/** Those that an operator left out for good. */
export const readSkipped = async (database: Database | Transaction, name: string): Promise<LeftOut> => {
  const { rows } = await database.query<{ stream: string; position: string }>(
    'select stream, position from projector.skipped where projection = $1',
    [name],
  );
  return leftOut(rows);
};

/** Those, and the parked. */
export const readMissing = async (database: Database | Transaction, name: string): Promise<LeftOut> => {
  const { rows } = await database.query<{ stream: string; position: string }>(
    `select stream, position from projector.skipped where projection = $1
     union all select stream, position from projector.parked where projection = $1`,
    [name],
  );
  return leftOut(rows);
};
