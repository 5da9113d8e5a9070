import { canRead } from '#contracts/events/schema-registry.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction, type Proof } from '#platform/postgres/pool.ts';
import { applyBatch, type Target } from './apply-batch.ts';
import { PoisonEvent } from '#application/read-models/failures.ts';

/** Streams with a dead letter, whose later events wait. */
export type ParkedStreams = Set<string>;

type ParkedTable = 'parked' | 'parked_in_build';

export const readParkedStreams = async (
  database: Database,
  projection: string,
  table: ParkedTable = 'parked',
): Promise<ParkedStreams> => {
  const { rows } = await database.query<{ stream: string }>(
    `select distinct stream from projector.${table} where projection = $1`,
    [projection],
  );
  return new Set(rows.map(({ stream }) => stream));
};

const park = async (
  database: Database,
  projection: string,
  events: readonly RecordedEvent[],
  failure: PoisonEvent | null,
  { prove, table = 'parked' }: Parking,
): Promise<void> => {
  if (events.length === 0) return;
  await inTransaction(database, async (client) => {
    await client.query(
      `insert into projector.${table} (projection, stream, position, revision, type, error, waits_for_version)
       select $1, i.stream, i.position, i.revision, i.type, $6, $7
       from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[]) as i(stream, position, revision, type)
       on conflict do nothing`,
      [
        projection,
        events.map(({ stream }) => stream),
        events.map(({ position }) => position),
        events.map(({ revision }) => revision),
        events.map(({ type }) => type),
        failure?.message ?? null,
        failure?.waitsForVersion ?? null,
      ],
    );
    await prove(client);
  });
};

export const logParked =
  (log: Log, projection: string): Parking['onPoison'] =>
  ({ event: { type, stream, position }, message }) =>
    log.error(
      { projection, type, stream, position: String(position), reason: message },
      'event parked with the rest of its stream',
    );

/** Retries parked streams that this release can read; returns how many. */
export const requestReadableRetries = async (database: Database, projection: string): Promise<number> => {
  const { rows } = await database.query<{ stream: string; type: string; version: number }>(
    `select stream, type, waits_for_version as version from projector.parked
     where projection = $1 and waits_for_version is not null and asked is null`,
    [projection],
  );
  const readable = rows.filter((row) => canRead(row));
  if (readable.length === 0) return 0;
  await database.query(
    `update projector.parked set asked = 'retry'
     where projection = $1 and stream = any($2::text[]) and waits_for_version is not null`,
    [projection, readable.map(({ stream }) => stream)],
  );
  return readable.length;
};

export type Parking = {
  /** Proves that this process may write the projection. */
  readonly prove: Proof;
  readonly table?: ParkedTable;
  readonly onPoison: (error: PoisonEvent) => void;
};

/**
 * Applies a batch. Parks an event that fails, with all later events of its stream; other streams continue. Parks before
 * the checkpoint moves: after a crash the same events are parked again, without effect. Returns how many events were
 * applied.
 */
export const applyOrPark = async (
  database: Database,
  target: Target,
  parked: ParkedStreams,
  events: readonly RecordedEvent[],
  position: bigint,
  parking: Parking,
): Promise<number> => {
  const { name } = target.projection;
  let waiting = events;
  let left = 0;
  for (;;) {
    const behind = waiting.filter(({ stream }) => parked.has(stream));
    await park(database, name, behind, null, parking);
    const applicable = waiting.filter(({ stream }) => !parked.has(stream));
    try {
      await applyBatch(database, target, applicable, position);
      return events.length - left - behind.length;
    } catch (error) {
      if (!(error instanceof PoisonEvent)) throw error;
      parking.onPoison(error);
      await park(database, name, [error.event], error, parking);
      parked.add(error.event.stream);
      left += 1 + behind.filter((event) => event.position < error.event.position).length;
      waiting = waiting.filter((event) => event.position > error.event.position);
    }
  }
};
