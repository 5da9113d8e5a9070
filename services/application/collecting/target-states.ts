import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Without a wish for this long, a target is read every 30 days only: two weekly wishes were missed. */
export const IDLE_AFTER_DAYS = 14;
export const IDLE_AFTER_MS = IDLE_AFTER_DAYS * DAY_MS;
export const INTERVAL_HOURS = { daily: 24, weekly: 168 } as const;
/** 30 days between two readings of a site. */
export const SITE_INTERVAL_HOURS = 720;

/** A target may be in several states: one that is overdue may be in flight. */
export const TARGET_STATES = ['due', 'in_flight', 'overdue', 'refused', 'shut', 'paused'] as const;
export type TargetState = (typeof TARGET_STATES)[number];

/**
 * SQL over `collecting.target t` at the time `$1`. `due` waits for a reader; `in_flight` has an unexpired lease;
 * `overdue` is later than its cadence promises (an idle target promises nothing); `refused` by its site or robots.txt;
 * `shut` was closed to visitors; `paused` by an operator.
 */
export const TARGET_CONDITIONS: Readonly<Record<TargetState, string>> = {
  due: `t.paused is null and t.due_at <= $1 and coalesce(t.retry_at, $1) <= $1 and coalesce(t.lease_until, $1) <= $1`,
  in_flight: `t.lease_until > $1`,
  overdue: `t.paused is null and t.wished_at > $1::timestamptz - interval '${IDLE_AFTER_DAYS} days'
    and t.due_at < $1::timestamptz - case t.cadence
      when 'daily' then interval '${SLO_HOURS.daily - INTERVAL_HOURS.daily} hours'
      else interval '${SLO_HOURS.weekly - INTERVAL_HOURS.weekly} hours' end`,
  refused: `t.outcome in ('refused', 'forbidden')`,
  shut: `t.outcome = 'closed'`,
  paused: `t.paused is not null`,
};

export type SourceCounts = Readonly<Record<TargetState, number>> & {
  readonly source: string;
  readonly targets: number;
};

/** True once a collector has created its tables. */
export const hasTargets = async (database: Database): Promise<boolean> => {
  const { rows } = await database.query<{ found: boolean }>(
    `select to_regclass('collecting.target') is not null as found`,
  );
  return rows[0]?.found === true;
};

/** By source and state; none before a collector has created its tables. */
export const countTargets = async (database: Database, now: Date): Promise<readonly SourceCounts[]> => {
  if (!(await hasTargets(database))) return [];
  const columns = TARGET_STATES.map(
    (state) => `count(*) filter (where ${TARGET_CONDITIONS[state]})::int as ${state}`,
  );
  const { rows } = await database.query<SourceCounts>(
    `select t.source, count(*)::int as targets, ${columns.join(', ')}
     from collecting.target t group by t.source order by t.source`,
    [now],
  );
  return rows;
};

/** Times are ISO 8601; `null` before the first one. */
export type ListedTarget = {
  readonly source: string;
  readonly domain: string;
  readonly cadence: string;
  readonly states: readonly TargetState[];
  readonly due_at: string;
  /** Earliest retry after a failure. */
  readonly retry_at: string | null;
  /** Start of the last published scan. */
  readonly scanned_at: string | null;
  /** End of the last attempt. */
  readonly tried_at: string | null;
  readonly outcome: string | null;
  readonly detail: string | null;
  /** An operator's reason for the pause. */
  readonly paused: string | null;
};

export type TargetFilter = {
  readonly domain?: string;
  /** Absent: all states. */
  readonly states?: readonly TargetState[];
  readonly limit: number;
};

type Row = Readonly<Record<TargetState, boolean>> & {
  readonly source: string;
  readonly domain: string;
  readonly cadence: string;
  readonly due_at: Date;
  readonly retry_at: Date | null;
  readonly scanned_at: Date | null;
  readonly tried_at: Date | null;
  readonly outcome: string | null;
  readonly detail: string | null;
  readonly reason: string | null;
};

/** Longest due first; none before a collector has created its tables. */
export const listTargets = async (
  database: Database,
  now: Date,
  { domain, states = [], limit }: TargetFilter,
): Promise<readonly ListedTarget[]> => {
  if (!(await hasTargets(database))) return [];
  const columns = TARGET_STATES.map((state) => `coalesce(${TARGET_CONDITIONS[state]}, false) as "${state}"`);
  const wanted = states.map((state) => `(${TARGET_CONDITIONS[state]})`).join(' or ');
  const { rows } = await database.query<Row>(
    `select t.source, t.domain, t.cadence, t.due_at, t.retry_at, t.scanned_at, t.tried_at, t.outcome, t.detail,
       t.paused as reason, ${columns.join(', ')}
     from collecting.target t
     where ($2::text is null or t.domain = $2) and (${wanted === '' ? 'true' : wanted}) and $1::timestamptz is not null
     order by t.due_at, t.source, t.domain limit $3`,
    [now, domain ?? null, limit],
  );
  return rows.map((row) => ({
    source: row.source,
    domain: row.domain,
    cadence: row.cadence,
    states: TARGET_STATES.filter((state) => row[state]),
    due_at: row.due_at.toISOString(),
    retry_at: row.retry_at?.toISOString() ?? null,
    scanned_at: row.scanned_at?.toISOString() ?? null,
    tried_at: row.tried_at?.toISOString() ?? null,
    outcome: row.outcome,
    detail: row.detail,
    paused: row.reason,
  }));
};
