import type { Database } from '#platform/postgres/pool.ts';
import { hasTargets, TARGET_CONDITIONS, TARGET_STATES, type TargetState } from './target-states.ts';

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
