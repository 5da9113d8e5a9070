import type { RecordedEvent } from '#contracts/events/event.ts';
import { approximateBytes } from '#platform/event-store/event-size.ts';
import { type Database, inTransaction, type Proof, withProof } from '#platform/postgres/pool.ts';
import { applyBatch, type Target } from '../apply/apply-batch.ts';
import { endsSession, PoisonEvent } from '#application/read-models/failures.ts';
import { type BehindRow, proveRunning } from '../apply/running.ts';
import type { ProjectorDependencies } from '../dependencies.ts';
import { BATCH_BYTES_MAX } from '../subscription.ts';

const RETRY_BATCH = 1_000;

type ParkedEvent = { readonly position: string; readonly revision: string | null };

/** A target that moves no checkpoint, since the checkpoint is past the parked events. */
const retryTarget = (target: Target, stream: string): Target => ({
  ...target,
  saveCheckpoint: async (client, position, events) => {
    const { name } = target.projection;
    await client.query(
      'delete from projector.parked where projection = $1 and stream = $2 and position <= $3',
      [name, stream, position],
    );
    await client.query(
      'update projector.read_model set facts_applied = facts_applied + $2, updated_at = now() where name = $1',
      [name, events],
    );
  },
});

/** Moves the failed event to `projector.skipped` if requested. */
const applySkipRequest = (
  { database }: ProjectorDependencies,
  name: string,
  stream: string,
): Promise<unknown> =>
  inTransaction(database, (client) =>
    client.query(
      `with given_up as (
         delete from projector.parked where projection = $1 and stream = $2 and asked = 'skip' returning *)
       insert into projector.skipped (projection, stream, position, type, error)
       select projection, stream, position, type, error from given_up on conflict do nothing`,
      [name, stream],
    ),
  );

const readParked = async ({ database }: ProjectorDependencies, name: string, stream: string) => {
  const { rows } = await database.query<ParkedEvent>(
    `select position::text, revision::text from projector.parked k where projection = $1 and stream = $2
     order by k.position limit ${RETRY_BATCH}`,
    [name, stream],
  );
  return rows;
};

/** Stops at the byte limit of a batch. Omits events that the log no longer has. */
const readEvents = async (
  { eventStore }: ProjectorDependencies,
  stream: string,
  parked: readonly ParkedEvent[],
): Promise<readonly RecordedEvent[]> => {
  const positions = new Map(parked.map(({ revision, position }) => [revision, BigInt(position)]));
  const events: RecordedEvent[] = [];
  const first = parked[0]?.revision;
  if (first === null || first === undefined) return events;
  let bytes = 0;
  for await (const event of eventStore.read(stream, BigInt(first) - 1n)) {
    const position = positions.get(String(event.revision));
    if (position !== undefined) {
      events.push({ ...event, position });
      bytes += approximateBytes(event.data);
    }
    if (events.length === parked.length || bytes >= BATCH_BYTES_MAX) break;
  }
  return events;
};

const recordPostponed = (
  { database }: ProjectorDependencies,
  name: string,
  stream: string,
  position: string,
  error: Error,
): Promise<unknown> =>
  inTransaction(database, (client) =>
    client.query(
      `update projector.parked set error = $4, attempts = attempts + 1, tried_at = now()
       where projection = $1 and stream = $2 and position = $3`,
      [name, stream, position, `The retry is postponed: ${error.message}`],
    ),
  );

const recordFailure = (
  { database }: ProjectorDependencies,
  name: string,
  stream: string,
  position: string,
  error: string,
  waitsForVersion: number | null = null,
) =>
  inTransaction(database, async (client) => {
    await client.query('update projector.parked set asked = null where projection = $1 and stream = $2', [
      name,
      stream,
    ]);
    await client.query(
      `update projector.parked set error = $4, waits_for_version = $5, attempts = attempts + 1, tried_at = now()
       where projection = $1 and stream = $2 and position = $3`,
      [name, stream, position, error, waitsForVersion],
    );
  });

/** Throws an error that no event causes. */
const retryStream = async (
  dependencies: ProjectorDependencies,
  live: Database,
  target: Target,
  stream: string,
): Promise<void> => {
  const { name } = target.projection;
  await applySkipRequest(dependencies, name, stream);
  for (;;) {
    dependencies.signal.throwIfAborted();
    const parked = await readParked(dependencies, name, stream);
    const [first] = parked;
    if (!first) break;
    const events = await readEvents(dependencies, stream, parked);
    const last = events.at(-1);
    if (!last || parked[events.length - 1]?.position !== String(last.position)) {
      await recordFailure(
        dependencies,
        name,
        stream,
        first.position,
        'The event is no longer in the log. Rebuild the projection.',
      );
      return;
    }
    try {
      await applyBatch(live, retryTarget(target, stream), events, last.position);
    } catch (error) {
      if (endsSession(error)) throw error;
      if (!(error instanceof PoisonEvent)) {
        await recordPostponed(dependencies, name, stream, first.position, error as Error);
        throw error;
      }
      await recordFailure(
        dependencies,
        name,
        stream,
        String(error.event.position),
        error.message,
        error.waitsForVersion,
      );
      dependencies.log.error({ projection: name, stream, err: error }, 'retry of a parked event failed');
      return;
    }
  }
  dependencies.log.info({ projection: name, stream }, 'parked events applied');
};

/**
 * Retries the requested streams; needs exclusive access to the tables. Throws when a table is locked or a statement is
 * cancelled. The remaining streams keep their requests, and the failed one comes last at the next attempt.
 */
export const retryParked = async (
  dependencies: ProjectorDependencies,
  target: Target,
  row: BehindRow,
): Promise<void> => {
  const { name } = target.projection;
  const prove: Proof = (client) => proveRunning(client, name, row, null);
  const proving = { ...dependencies, database: withProof(dependencies.database, prove) };
  const live = withProof(dependencies.live.patient, prove);
  const { rows } = await dependencies.database.query<{ stream: string }>(
    `select stream from projector.parked where projection = $1 and asked is not null
     group by stream order by max(tried_at) nulls first, stream`,
    [name],
  );
  for (const { stream } of rows) await retryStream(proving, live, target, stream);
};
