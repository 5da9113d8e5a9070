import type { RecordedFact } from '#contracts/events/event.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { applyBatch, PoisonFact, type Target } from './apply-batch.ts';

/** Streams that wait behind a fact the projection could not apply. */
export type ParkedStreams = Set<string>;

export const readParkedStreams = async (database: Database, projection: string): Promise<ParkedStreams> => {
  const { rows } = await database.query<{ stream: string }>(
    'select distinct stream from projector.parked where projection = $1',
    [projection],
  );
  return new Set(rows.map(({ stream }) => stream));
};

const park = async (
  database: Database,
  projection: string,
  facts: readonly RecordedFact[],
  error: string | null,
): Promise<void> => {
  if (facts.length === 0) return;
  await database.query(
    `insert into projector.parked (projection, stream, position, revision, type, error)
     select $1, i.stream, i.position, i.revision, i.type, $6
     from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[]) as i(stream, position, revision, type)
     on conflict do nothing`,
    [
      projection,
      facts.map(({ stream }) => stream),
      facts.map(({ position }) => position),
      facts.map(({ revision }) => revision),
      facts.map(({ type }) => type),
      error,
    ],
  );
};

/**
 * Applies a batch; a fact that cannot be applied is parked with all later facts of its stream, and the rest
 * goes on. Parking comes before the checkpoint moves: interrupted in between, the same is parked again. Answers how
 * many were applied.
 */
export const applyOrPark = async (
  database: Database,
  target: Target,
  parked: ParkedStreams,
  facts: readonly RecordedFact[],
  position: bigint,
  onPoison: (error: PoisonFact) => void,
): Promise<number> => {
  const { name } = target.projection;
  let waiting = facts;
  let left = 0;
  for (;;) {
    const behind = waiting.filter(({ stream }) => parked.has(stream));
    await park(database, name, behind, null);
    const applicable = waiting.filter(({ stream }) => !parked.has(stream));
    try {
      await applyBatch(database, target, applicable, position);
      return facts.length - left - behind.length;
    } catch (error) {
      if (!(error instanceof PoisonFact)) throw error;
      onPoison(error);
      await park(database, name, [error.fact], error.message);
      parked.add(error.fact.stream);
      left += 1 + behind.filter((fact) => fact.position < error.fact.position).length;
      waiting = waiting.filter((fact) => fact.position > error.fact.position);
    }
  }
};
