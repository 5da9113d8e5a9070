import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isoTime } from '#platform/postgres/iso-time.ts';
import { ask, fromProjector, WATCH_EVERY_MS } from './projector-tables.ts';

export type Build = {
  readonly name: string;
  /** Of the code that builds; 0 until a process has taken it up. */
  readonly version: number;
  readonly state: 'asked' | 'reading' | 'indexing' | 'ready' | 'failed' | 'done' | 'cancelled';
  readonly position: string;
  readonly facts: number;
  /** As the log was counted last. */
  readonly total_facts: number;
  readonly rate_per_second: number;
  readonly eta_seconds: number | null;
  readonly requested_by: string | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** Of a build that stopped at an event: which, and why. */
  readonly error: string | null;
};

const RATE = `((b.facts_applied - b.resumed_facts)
  / nullif(extract(epoch from coalesce(b.finished_at, b.updated_at) - b.resumed_at), 0))`;
const BEGUN = `b.state <> 'asked'`;

/** Of `projector.build b` beside `projector.lag l`. */
export const BUILD_JSON = `case when b.name is not null then json_build_object(
  'name', b.name, 'version', b.version, 'state', b.state, 'position', b.position::text,
  'facts', case when ${BEGUN} then b.facts_applied else 0 end, 'total_facts', greatest(l.log_facts, b.facts_applied),
  'rate_per_second', case when ${BEGUN} then coalesce(round(${RATE}), 0) else 0 end,
  'eta_seconds', case when b.state = 'reading' then ceil((l.log_facts - b.facts_applied) / nullif(${RATE}, 0)) end,
  'requested_by', b.requested_by, 'started_at', ${isoTime('b.started_at')}, 'finished_at', ${isoTime('b.finished_at')},
  'error', b.error) end`;

const OVER: readonly Build['state'][] = ['failed', 'done', 'cancelled'];
export const isOver = ({ state }: Build): boolean => OVER.includes(state);

export type RebuildRequest = {
  /** `checkpoint`: go on with an unfinished build of this version, if there is one. */
  readonly from: 'start' | 'checkpoint';
  readonly by: string;
};

/** Has the owner build a projection anew beside its live tables, and swap. */
export const requestRebuild = async (
  database: Database,
  name: string,
  { from, by }: RebuildRequest,
): Promise<void> => {
  const asked = await ask(
    database,
    name,
    `insert into projector.build as b (name, version, position, state, from_start, requested_by)
     values ($1, 0, 0, 'asked', $2, $3)
     on conflict (name) do update set state = 'asked', from_start = excluded.from_start, requested_by = excluded.requested_by,
       requested_at = now(), is_cancelled = false, error = null, finished_at = null
     where b.state in ('failed', 'done', 'cancelled')`,
    [from === 'start', by],
  );
  if (asked === 0)
    throw new Refusal('already_exists', `A build of ${name} is under way. Cancel it first, or wait for it.`);
};

/** Has the build stopped and its tables dropped; the live tables stay as they are. */
export const cancelRebuild = async (database: Database, name: string): Promise<void> => {
  const cancelled = await ask(
    database,
    name,
    `update projector.build set is_cancelled = true where name = $1 and state in ('asked', 'reading', 'indexing', 'ready')`,
  );
  if (cancelled === 0) throw new Refusal('not_found', `No build of ${name} is under way.`);
};

export const readBuild = async (database: Database, name: string): Promise<Build | null> => {
  const { rows } = await fromProjector(() =>
    database.query<{ build: Build | null }>(
      `select ${BUILD_JSON} as build from projector.lag l left join projector.build b using (name) where name = $1`,
      [name],
    ),
  );
  return rows[0]?.build ?? null;
};

/** Tells how a build goes on until it is over, or until the signal; answers how it stands then. */
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

/** An owner stops at once; the tables are served as they are. */
export const pauseProjection = async (database: Database, name: string): Promise<void> => {
  await ask(
    database,
    name,
    'update projector.projection set is_paused = true, pause_at = null where name = $1',
  );
};

export const resumeProjection = async (database: Database, name: string): Promise<void> => {
  await ask(
    database,
    name,
    'update projector.projection set is_paused = false, pause_at = null where name = $1',
  );
};
