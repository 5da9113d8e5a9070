import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type { z } from 'zod';
import {
  LeaseTasks,
  type LeaseTasksReply,
  type LeasedTask,
  TASK_LEASE_MINUTES,
  TASK_PAGES_MAX,
  TASK_RULES,
  TaskDone,
  type TaskEndReply,
  TaskFailed,
  type TaskType,
} from '#contracts/intake.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import type { Collector } from '#application/collectors/collector-keys.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { serverFaultOf } from '#platform/server-fault.ts';
import { intakeTasks } from '#platform/telemetry/metrics.ts';
import { IntakeRefusal } from './server/refusal.ts';
import { readWholeBody } from './server/request-body.ts';

export const LEASES_MAX = 200;
/** Retry delay of a collector with too many leases. */
const LEASES_RETRY_SECONDS = 60;
/** Delay after a failed task; it doubles up to a day. */
const RETRY_FIRST_MS = 15 * MINUTE_MS;
const RETRY_MAX_MS = DAY_MS;
const LEASE_DAYS_MAX = 30;
const TASK_DAYS_MAX = 90;

const HAS_BRANDS = `
  select to_regclass('tracking.tracked_brand') is not null and to_regclass('brands.brand') is not null
    and to_regclass('social_pages.link') is not null and to_regclass('social_pages.page') is not null as found`;

/** Due brands: never scanned first, then by delay relative to their cadence. */
const DUE = `
  with wanted as (
    select b.brand_id, b.domain, min(t.cadence) as cadence
    from tracking.tracked_brand t join brands.brand b on b.brand_id = t.brand_id
    where b.domain is not null group by b.brand_id, b.domain
  ), due as (
    select w.*, k.done_at, case w.cadence when 'daily' then $3::int else $4::int end as interval_hours
    from wanted w left join intake.task k on k.type = $1 and k.domain = w.domain
    where coalesce(k.lease_until, $2) <= $2 and coalesce(k.retry_at, $2) <= $2
  )
  select d.domain, d.cadence, d.done_at, (
      select coalesce(json_agg(json_build_object('page_id', p.social_page_id, 'page_name', p.page_name)), '[]')
      from (
        select l.social_page_id, n.page_name from social_pages.link l
        left join social_pages.page n on n.social_page_id = l.social_page_id
        where l.brand_id = d.brand_id order by l.social_page_id limit ${TASK_PAGES_MAX}
      ) p
    ) as pages
  from due d
  where coalesce(d.done_at + make_interval(hours => d.interval_hours), $2) <= $2
  order by d.done_at is not null,
    extract(epoch from $2::timestamptz - d.done_at) / case d.cadence
      when 'daily' then ${SLO_HOURS.daily} else ${SLO_HOURS.weekly} end desc, d.domain
  limit $5`;

type DueRow = {
  readonly domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly done_at: Date | null;
  readonly pages: LeasedTask['pages'];
};

/** The clock of Postgres, since hosts differ: a fast one would lease tasks twice. `fixed` replaces it in tests. */
const timeOfTasks = async (client: Transaction, fixed: Date | null): Promise<Date> => {
  if (fixed !== null) return fixed;
  const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
  return (rows[0] as { now: Date }).now;
};

/** Returns how many leases the collector may take. Throws `rate_limited` for none. */
const freeLeases = async (client: Transaction, collector: string, now: Date): Promise<number> => {
  const { rows } = await client.query<{ held: number }>(
    `select count(*)::int as held from intake.lease
     where collector = $1 and ended_at is null and lease_until > $2`,
    [collector, now],
  );
  const free = LEASES_MAX - (rows[0]?.held ?? 0);
  if (free > 0) return free;
  throw new IntakeRefusal(
    'rate_limited',
    `This collector holds ${LEASES_MAX} tasks. End some with \`done\` or \`failed\` first.`,
    { retryAfterSeconds: LEASES_RETRY_SECONDS },
  );
};

const deleteOld = async (client: Transaction, now: Date): Promise<void> => {
  await client.query(
    'delete from intake.lease where leased_at < $1::timestamptz - make_interval(days => $2)',
    [now, LEASE_DAYS_MAX],
  );
  await client.query(
    'delete from intake.task where lease_until < $1::timestamptz - make_interval(days => $2)',
    [now, TASK_DAYS_MAX],
  );
};

/** Serial requests, so that no brand is leased twice. `fixedNow` is set in tests only. Throws `rate_limited`. */
export const leaseTasks = (
  database: Database,
  fixedNow: Date | null,
  { type, limit, collector }: { readonly type: TaskType; readonly limit: number; readonly collector: string },
): Promise<readonly LeasedTask[]> =>
  inTransaction(database, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.intakeTasks]);
    const now = await timeOfTasks(client, fixedNow);
    const free = await freeLeases(client, collector, now);
    const found = await client.query<{ found: boolean }>(HAS_BRANDS);
    // Before the first projector, no brand can be tracked.
    if (found.rows[0]?.found !== true) return [];
    await deleteOld(client, now);
    const { daily, weekly } = TASK_RULES[type].intervalHours;
    const due = await client.query<DueRow>(DUE, [type, now, daily, weekly, Math.min(limit, free)]);
    const until = new Date(now.getTime() + TASK_LEASE_MINUTES * MINUTE_MS);
    const leased = due.rows.map((row) => ({ ...row, id: randomUUID() }));
    await client.query(
      `with leased as (
         insert into intake.lease (lease_id, type, domain, collector, leased_at, lease_until)
         select id, $3, domain, $4, $5, $6 from unnest($1::uuid[], $2::text[]) as l (id, domain)
         returning lease_id, type, domain, lease_until
       )
       insert into intake.task (type, domain, lease_id, lease_until)
       select type, domain, lease_id, lease_until from leased
       on conflict (type, domain) do update
         set lease_id = excluded.lease_id, lease_until = excluded.lease_until`,
      [leased.map(({ id }) => id), leased.map(({ domain }) => domain), type, collector, now, until],
    );
    return leased.map(({ id, domain, cadence, done_at, pages }) => ({
      id,
      type,
      domain,
      pages,
      cadence,
      since: done_at?.toISOString() ?? null,
      leased_until: until.toISOString(),
    }));
  });

type LeaseRow = {
  readonly type: string;
  readonly domain: string;
  readonly leased_at: Date;
  readonly outcome: string | null;
};

export type TaskEnd = { readonly outcome: 'done' } | { readonly outcome: 'failed'; readonly reason: string };

/** Returns false when this lease is not the newest of the task. */
const endTaskRow = async (
  client: Transaction,
  id: string,
  lease: LeaseRow,
  outcome: TaskEnd['outcome'],
  now: Date,
): Promise<boolean> => {
  const isDone = outcome === 'done';
  const { rowCount } = await client.query(
    `update intake.task set lease_id = null, lease_until = $4,
       done_at = case when $5 then $6::timestamptz else done_at end,
       failures = case when $5 then 0 else failures + 1 end,
       retry_at = case when $5 then null else $4::timestamptz + least($7 * 2 ^ least(failures, 20), $8) * interval '1 hour' end
     where type = $2 and domain = $3 and lease_id = $1`,
    [
      id,
      lease.type,
      lease.domain,
      now,
      isDone,
      lease.leased_at,
      RETRY_FIRST_MS / HOUR_MS,
      RETRY_MAX_MS / HOUR_MS,
    ],
  );
  return rowCount === 1;
};

export type EndedTask = { readonly type: string; readonly changed: boolean };

/** `changed` is false for a repetition. Accepts expired leases. Throws `not_found`, `task_ended`, `lease_lost`. */
export const endTask = (
  database: Database,
  fixedNow: Date | null,
  { id, collector, end }: { readonly id: string; readonly collector: string; readonly end: TaskEnd },
): Promise<EndedTask> =>
  inTransaction(database, async (client) => {
    const { rows } = await client.query<LeaseRow>(
      `select type, domain, leased_at, outcome from intake.lease where lease_id = $1 and collector = $2 for update`,
      [id, collector],
    );
    const [lease] = rows;
    if (lease === undefined) {
      throw new IntakeRefusal('not_found', 'Task not found. Lease tasks with `POST /intake/tasks`.');
    }
    const { type } = lease;
    if (lease.outcome === end.outcome) return { type, changed: false };
    if (lease.outcome !== null) {
      throw new IntakeRefusal(
        'task_ended',
        `The task has ended as \`${lease.outcome}\`. Nothing was changed.`,
      );
    }
    const now = await timeOfTasks(client, fixedNow);
    if (!(await endTaskRow(client, id, lease, end.outcome, now))) {
      throw new IntakeRefusal(
        'lease_lost',
        'The lease expired, and the task was leased again. What was sent is kept; end tasks within their lease.',
      );
    }
    await client.query(
      'update intake.lease set ended_at = $2, outcome = $3, reason = $4 where lease_id = $1',
      [id, now, end.outcome, end.outcome === 'failed' ? end.reason : null],
    );
    return { type, changed: true };
  });

const BODY_MAX_BYTES = 16 * 1024;
export const TASK_BODY_TIMEOUT_MS = 10_000;
/** Retry delay while Postgres is down. */
const RETRY_SECONDS = 5;
const DETAILS_MAX = 20;

export type TaskRequests = {
  readonly database: Database;
  readonly taskClock: Clock | undefined;
  readonly log: Log;
  /** Throws when the key was revoked while the body arrived. */
  readonly requireKey: () => Promise<unknown>;
  readonly timeoutMs: number;
};

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const requireJson = (contentType: string | undefined): void => {
  try {
    const { essence, params } = new MIMEType(contentType ?? '');
    if (essence === 'application/json' && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8')
      return;
  } catch {
    // The header is missing or malformed.
  }
  throw new IntakeRefusal('unsupported_content', 'Send `content-type: application/json`, in UTF-8.');
};

/** An absent body is an empty object. Throws `invalid_request` with the failing fields. */
const readJson = async <T>(request: IncomingMessage, schema: z.ZodType<T>, timeoutMs: number): Promise<T> => {
  const body = await readWholeBody(request, { maxBytes: BODY_MAX_BYTES, timeoutMs });
  let input: unknown = {};
  if (body.length > 0) {
    requireJson(request.headers['content-type']);
    try {
      input = JSON.parse(UTF8.decode(body));
    } catch {
      throw new IntakeRefusal('invalid_request', 'The body is not JSON in UTF-8. Send one JSON object.');
    }
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, DETAILS_MAX).map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code: code ?? 'invalid',
  }));
  throw new IntakeRefusal(
    'invalid_request',
    `The body is invalid: ${details[0]?.path || 'body'}: ${details[0]?.message}. Fix it and send it again.`,
    { details },
  );
};

/** Throws `unavailable` while Postgres is down, too slow, or rejects the statement. */
const whileAvailable = async <T>(log: Log, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (serverFaultOf(error) === null) throw error;
    log.warn({ err: error }, 'tasks not available');
    throw new IntakeRefusal('unavailable', 'Tasks cannot be read now. Send the request again later.', {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
};

export const receiveLeaseRequest = async (
  request: IncomingMessage,
  { name, types }: Collector,
  { database, taskClock, log, requireKey, timeoutMs }: TaskRequests,
): Promise<LeaseTasksReply> => {
  const { type, limit } = await readJson(request, LeaseTasks, timeoutMs);
  const missing = TASK_RULES[type].needs.filter((needed) => types !== null && !types.has(needed));
  if (missing.length > 0) {
    throw new IntakeRefusal(
      'type_not_granted',
      `Tasks of the type \`${type}\` need a key that may send ${missing.map((one) => `\`${one}\``).join(' and ')}. Ask the operator for one.`,
    );
  }
  await requireKey();
  const tasks = await whileAvailable(log, () =>
    leaseTasks(database, taskClock?.now() ?? null, { type, limit, collector: name }),
  );
  intakeTasks.inc({ type, outcome: 'leased' }, tasks.length);
  return { tasks: [...tasks] };
};

export const receiveTaskEnd = async (
  request: IncomingMessage,
  id: string,
  outcome: TaskEnd['outcome'],
  { name }: Collector,
  { database, taskClock, log, requireKey, timeoutMs }: TaskRequests,
): Promise<TaskEndReply> => {
  if (!Uuid.safeParse(id).success) {
    throw new IntakeRefusal('not_found', 'Task not found. The path has the `id` of a leased task.');
  }
  const end: TaskEnd =
    outcome === 'failed'
      ? { outcome, ...(await readJson(request, TaskFailed, timeoutMs)) }
      : { outcome, ...(await readJson(request, TaskDone, timeoutMs)) };
  await requireKey();
  const { type, changed } = await whileAvailable(log, () =>
    endTask(database, taskClock?.now() ?? null, { id, collector: name, end }),
  );
  if (changed) intakeTasks.inc({ type, outcome });
  return { id, outcome, changed };
};
