import { isoTimeSql } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { sendRequest, fromProjector, WATCH_EVERY_MS } from './projector-tables.ts';

export type Build = {
  readonly name: string;
  /** Version of the code that rebuilds; 0 until a projector has started it. */
  readonly version: number;
  readonly state: 'asked' | 'reading' | 'indexing' | 'ready' | 'failed' | 'done' | 'cancelled';
  readonly position: string;
  readonly facts: number;
  readonly total_facts: number;
  readonly rate_per_second: number;
  readonly eta_seconds: number | null;
  readonly requested_by: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly error: string | null;
};

const RATE = `((b.facts_applied - b.resumed_facts)
  / nullif(extract(epoch from coalesce(b.finished_at, b.updated_at) - b.resumed_at), 0))`;
const BEGUN = `b.state <> 'asked'`;

/** Expects `projector.build b` and `projector.lag l` in the FROM clause. */
export const BUILD_JSON = `case when b.name is not null then json_build_object(
  'name', b.name, 'version', b.version, 'state', b.state, 'position', b.position::text,
  'facts', case when ${BEGUN} then b.facts_applied else 0 end, 'total_facts', greatest(l.log_facts, b.facts_applied),
  'rate_per_second', case when ${BEGUN} then coalesce(round(${RATE}), 0) else 0 end,
  'eta_seconds', case when b.state = 'reading' then ceil((l.log_facts - b.facts_applied) / nullif(${RATE}, 0)) end,
  'requested_by', b.requested_by, 'started_at', ${isoTimeSql('b.started_at')}, 'finished_at', ${isoTimeSql('b.finished_at')},
  'error', b.error) end`;

const OVER: readonly Build['state'][] = ['failed', 'done', 'cancelled'];
export const isOver = ({ state }: Build): boolean => OVER.includes(state);

export type RebuildRequest = {
  readonly from: 'start' | 'checkpoint';
  readonly by: string;
};

/** Requests a replay into a shadow schema that replaces the tables. Throws `already_exists` when one runs. */
export const requestRebuild = async (
  database: Database,
  name: string,
  { from, by }: RebuildRequest,
): Promise<void> => {
  const requested = await sendRequest(
    database,
    name,
    `insert into projector.build as b (name, version, position, state, from_start, requested_by)
     values ($1, 0, 0, 'asked', $2, $3)
     on conflict (name) do update set state = 'asked', from_start = excluded.from_start, requested_by = excluded.requested_by,
       requested_at = now(), is_cancelled = false, error = null, finished_at = null
     where b.state in ('failed', 'done', 'cancelled')`,
    [from === 'start', by],
  );
  if (requested === 0)
    throw new Refusal(
      'already_exists',
      `A rebuild of ${name} is already running. Wait for it, or cancel it first.`,
    );
};

/** Stops a rebuild; the live tables stay. Throws `not_found` when none runs. */
export const cancelRebuild = async (database: Database, name: string): Promise<void> => {
  const cancelled = await sendRequest(
    database,
    name,
    `update projector.build set is_cancelled = true where name = $1 and state in ('asked', 'reading', 'indexing', 'ready')`,
  );
  if (cancelled === 0) throw new Refusal('not_found', `No rebuild of ${name} is running.`);
};

/** `null` when the projection was never rebuilt. */
export const readBuild = async (database: Database, name: string): Promise<Build | null> => {
  const { rows } = await fromProjector(() =>
    database.query<{ build: Build | null }>(
      `select ${BUILD_JSON} as build from projector.lag l left join projector.build b using (name) where name = $1`,
      [name],
    ),
  );
  return rows[0]?.build ?? null;
};

export const watchBuild = async (
  database: Database,
  name: string,
  onProgress: (build: Build) => void,
  signal: AbortSignal,
): Promise<Build | null> => {
  for (;;) {
    const build = await readBuild(database, name);
    if (build) onProgress(build);
    if (!build || isOver(build) || signal.aborted) return build;
    await pause(WATCH_EVERY_MS, signal);
  }
};

export const pauseProjection = async (database: Database, name: string): Promise<void> => {
  await sendRequest(
    database,
    name,
    'update projector.read_model set is_paused = true, pause_at = null where name = $1',
  );
};

export const resumeProjection = async (database: Database, name: string): Promise<void> => {
  await sendRequest(
    database,
    name,
    'update projector.read_model set is_paused = false, pause_at = null where name = $1',
  );
};
