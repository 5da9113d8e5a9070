import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { PROJECTOR_CONTROL_CHANNEL, type VerificationReport } from '#contracts/messages/projector.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isoTimeSql } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Operators write requests into these tables; the projector that owns the projection carries them out. */

export const WATCH_EVERY_MS = 250;

/** SQL states: undefined table, schema or column. */
const NOT_MADE = ['42P01', '3F000', '42703'];
const DEADLOCK_DETECTED = '40P01';
const READ_ATTEMPTS = 3;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Throws `not_found` without tables. Retries a deadlock: a newer projector alters tables when it starts. */
export const fromProjector = async <T>(read: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (codeOf(error) === DEADLOCK_DETECTED && attempt < READ_ATTEMPTS) continue;
      if (!NOT_MADE.includes(codeOf(error))) throw error;
      const refusal = new Refusal(
        'not_found',
        'The tables of the projector do not exist yet. Start a projector of this version on this database.',
      );
      throw Object.assign(refusal, { cause: error });
    }
  }
};

export const unknownProjection = (name: string): Refusal =>
  new Refusal('not_found', `Projection ${name} not found. \`projections status\` lists all projections.`);

/** Throws `not_found` for an unknown name; its empty result would look like success. */
export const requireProjection = async (database: Database, name: string): Promise<void> => {
  const { rows } = await fromProjector(() =>
    database.query('select from projector.projection where name = $1', [name]),
  );
  if (rows.length === 0) throw unknownProjection(name);
};

/** `$1` of the statement is the projection. Notifies all projectors. Throws `not_found` for an unknown projection. */
export const sendRequest = async (
  database: Database,
  name: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<number> => {
  await requireProjection(database, name);
  const { rowCount } = await database.query(sql, [name, ...values]);
  await database.query(`select pg_notify('${PROJECTOR_CONTROL_CHANNEL}', $1)`, [name]);
  return rowCount ?? 0;
};

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

export type SchemaDifference = {
  readonly name: string;
  /** Version of the tables; `null` when they do not exist. */
  readonly database_version: number | null;
  readonly code_version: number | null;
  /** `newer`: tables newer than the code. `orphaned`: without code. `unversioned`: changed without a new version. */
  readonly difference: 'same' | 'changed' | 'newer' | 'missing' | 'orphaned' | 'unversioned';
};

type Made = { readonly name: string; readonly version: number; readonly fingerprint: string | null };

const differenceOf = (
  made: Made | undefined,
  code: Projection | undefined,
): SchemaDifference['difference'] => {
  if (!made) return 'missing';
  if (!code) return 'orphaned';
  if (made.version !== code.version) return made.version < code.version ? 'changed' : 'newer';
  return made.fingerprint === null || made.fingerprint === fingerprintOf(code) ? 'same' : 'unversioned';
};

export const readDiff = async (
  database: Database,
  projections: readonly Projection[],
): Promise<readonly SchemaDifference[]> => {
  const { rows } = await fromProjector(() =>
    database.query<Made>('select name, version, fingerprint from projector.projection'),
  );
  const names = new Set([...projections.map(({ name }) => name), ...rows.map(({ name }) => name)]);
  return [...names].toSorted().map((name) => {
    const made = rows.find((row) => row.name === name);
    const code = projections.find((projection) => projection.name === name);
    return {
      name,
      database_version: made?.version ?? null,
      code_version: code?.version ?? null,
      difference: differenceOf(made, code),
    };
  });
};

const RATE_SECONDS = 60;
const OLDEST_LIMIT_MS = 2_000;
const OLDEST_TAKE = 50;

export type ProjectionStatus = {
  readonly name: string;
  /** `failed`: a changed version could not be built, so the tables no longer change. */
  readonly state: 'building' | 'live' | 'paused' | 'failed';
  readonly version: number;
  /** Version of this code; `null` when it does not contain the projection. */
  readonly code_version: number | null;
  readonly position: string;
  readonly facts_applied: number;
  /** Events not yet applied, at the last count of the log. Parked events are not included. */
  readonly lag_facts: number;
  /** Age of the oldest unapplied event in seconds; 0 without one, `null` when the event store did not answer in time. */
  readonly lag_seconds: number | null;
  readonly rate_per_second: number;
  readonly parked: number;
  readonly skipped: number;
  /** The projector process that owns the projection; `null` when none does. */
  readonly owner: string | null;
  readonly last_error: string | null;
  /** Next attempt while batches fail, for another reason than an event. */
  readonly next_try: string | null;
  readonly updated_at: string;
  /** Time since which events wait but the position does not advance. */
  readonly standing_since: string | null;
  /** Time of the last swap, while the replaced tables are still retained. */
  readonly replaced_at: string | null;
  readonly build: Build | null;
};

const STATUS = `
  select p.name, case when p.is_paused then 'paused' else p.state end as state, p.version, p.position::text,
    p.facts_applied::float8 as facts_applied, l.lag_facts::float8 as lag_facts, l.parked::int, l.skipped::int,
    coalesce((p.facts_applied - s.facts_applied) / nullif(extract(epoch from now() - s.at), 0), 0)::float8 as rate_per_second,
    p.owner, coalesce(h.error, p.last_error, k.error) as last_error, ${isoTimeSql('h.next_try')} as next_try, ${isoTimeSql('p.updated_at')} as updated_at,
    ${isoTimeSql('p.standing_since')} as standing_since, ${isoTimeSql('r.replaced_at')} as replaced_at, ${BUILD_JSON} as build, p.prefixes
  from projector.projection p join projector.lag l using (name)
  left join projector.replaced r using (name) left join projector.build b using (name)
  left join projector.behind h on h.projection = p.name and h.error is not null
  left join lateral (
    select at, facts_applied from projector.sample s
    where s.name = p.name and s.at > now() - make_interval(secs => ${RATE_SECONDS}) order by at limit 1
  ) s on true
  left join lateral (
    select error from projector.parked k where k.projection = p.name and error is not null
    order by coalesce(tried_at, parked_at) desc limit 1
  ) k on true
  where $1::text is null or p.name = $1 order by p.name`;

type Row = Omit<ProjectionStatus, 'code_version' | 'lag_seconds'> & { readonly prefixes: readonly string[] };

/** Returns `null` when there are none or the read timed out. */
const firstRecordedAt = async (
  eventStore: EventStore,
  position: bigint,
  prefixes: readonly string[],
): Promise<Date | null> => {
  const limit = new AbortController();
  await using follower = eventStore.follow({
    after: position === 0n ? null : position,
    prefixes,
    bufferItems: OLDEST_TAKE,
  });
  const readFirst = async (): Promise<Date | null> => {
    for (;;) {
      for (const item of await follower.take(OLDEST_TAKE)) {
        if (item.kind === 'event') return item.event.recordedAt;
        if (item.kind === 'caught_up') return null;
      }
      if (limit.signal.aborted) return null;
    }
  };
  try {
    return await Promise.race([
      readFirst().catch(() => null),
      pause(OLDEST_LIMIT_MS, limit.signal).then(() => null),
    ]);
  } finally {
    limit.abort();
  }
};

const lagSeconds = async (
  eventStore: EventStore,
  { position, prefixes, lag_facts }: Row,
): Promise<number | null> => {
  if (lag_facts === 0) return 0;
  const at = await firstRecordedAt(eventStore, BigInt(position), prefixes);
  return at === null ? null : Math.max(0, (Date.now() - at.getTime()) / 1_000);
};

export const readStatus = async (
  database: Database,
  eventStore: EventStore,
  projections: readonly Projection[],
  name: string | null = null,
): Promise<readonly ProjectionStatus[]> => {
  const { rows } = await fromProjector(() => database.query<Row>(STATUS, [name]));
  if (name !== null && rows.length === 0) throw unknownProjection(name);
  const lagByPosition = new Map<string, Promise<number | null>>();
  return Promise.all(
    rows.map(async (row) => {
      const { prefixes, ...status } = row;
      const key = `${row.lag_facts > 0} ${row.position} ${prefixes.join()}`;
      const seconds = lagByPosition.get(key) ?? lagSeconds(eventStore, row);
      lagByPosition.set(key, seconds);
      return {
        ...status,
        code_version: projections.find((one) => one.name === row.name)?.version ?? null,
        lag_seconds: await seconds,
      };
    }),
  );
};

const POINT_SECONDS = 30;

export type LagSeries = {
  readonly projection: string;
  readonly at: readonly string[];
  readonly lag_facts: readonly number[];
};

/** Lag of the last hour, the highest of each half minute. */
export const readLagSeries = async (database: Database): Promise<readonly LagSeries[]> => {
  const { rows } = await fromProjector(() =>
    database.query<LagSeries>(
      `select name as projection, array_agg(${isoTimeSql('point')} order by point) as at,
         array_agg(lag order by point) as lag_facts
       from (
         select name, date_bin(make_interval(secs => ${POINT_SECONDS}), at, 'epoch') as point,
           max(lag_facts)::float8 as lag
         from projector.sample where at > now() - interval '1 hour' group by name, point
       ) points group by name order by name`,
    ),
  );
  return rows;
};

const POSITION = 'must be a log position, as `projections status` shows it';
/** Maximum value of a Postgres `bigint`, the type of positions. */
const POSITION_MAX = 2n ** 63n - 1n;

export const VerifyQuery = z.strictObject({
  to: z
    .string()
    .regex(/^\d{1,19}$/, POSITION)
    .transform(BigInt)
    .refine((position) => position <= POSITION_MAX, POSITION)
    .optional(),
});

export type Verification = {
  readonly name: string;
  readonly state: 'asked' | 'reading' | 'comparing' | 'passed' | 'differs' | 'failed' | 'cancelled';
  readonly facts: number;
  readonly total_facts: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** The reason why the comparison failed; `null` when it has not failed. */
  readonly error: string | null;
  readonly report: VerificationReport | null;
};

const VERIFICATION_OVER: readonly Verification['state'][] = ['passed', 'differs', 'failed', 'cancelled'];
export const isVerificationOver = ({ state }: Verification): boolean => VERIFICATION_OVER.includes(state);

/** Compares a replay with the live tables. `to` holds the projection at a position. Throws `already_exists`. */
export const requestVerification = async (
  database: Database,
  name: string,
  { to, by }: { readonly to: bigint | null; readonly by: string },
): Promise<void> => {
  const requested = await sendRequest(
    database,
    name,
    `insert into projector.verification as v (name, state, to_position, requested_by) values ($1, 'asked', $2, $3)
     on conflict (name) do update set state = 'asked', to_position = excluded.to_position, is_cancelled = false,
       requested_by = excluded.requested_by, requested_at = now(), started_at = null, finished_at = null, position = null,
       facts = 0, report = null, error = null
     where v.state in ('passed', 'differs', 'failed', 'cancelled')`,
    [to, by],
  );
  if (requested === 0) {
    throw new Refusal(
      'already_exists',
      `A verification of ${name} is already running. Wait for it, or cancel it first.`,
    );
  }
};

export const cancelVerification = async (database: Database, name: string): Promise<void> => {
  const cancelled = await sendRequest(
    database,
    name,
    `update projector.verification set is_cancelled = true where name = $1 and state in ('asked', 'reading', 'comparing')`,
  );
  if (cancelled === 0) throw new Refusal('not_found', `No verification of ${name} is running.`);
};

/** `null` when the projection was never verified. */
export const readProjectionVerification = async (
  database: Database,
  name: string,
): Promise<Verification | null> => {
  const { rows } = await fromProjector(() =>
    database.query<Verification>(
      `select v.name, v.state, v.facts::float8 as facts, greatest(l.log_facts, v.facts)::float8 as total_facts,
         ${isoTimeSql('v.started_at')} as started_at, ${isoTimeSql('v.finished_at')} as finished_at, v.error, v.report
       from projector.verification v join projector.lag l using (name) where v.name = $1`,
      [name],
    ),
  );
  return rows[0] ?? null;
};

export const watchVerification = async (
  database: Database,
  name: string,
  onProgress: (verification: Verification) => void,
  signal: AbortSignal,
): Promise<Verification | null> => {
  for (;;) {
    const verification = await readProjectionVerification(database, name);
    if (verification) onProgress(verification);
    if (!verification || isVerificationOver(verification) || signal.aborted) return verification;
    await pause(WATCH_EVERY_MS, signal);
  }
};
