import type { Database } from '#platform/postgres/pool.ts';

const REASON_MAX_LENGTH = 200;

const change = async (
  database: Database,
  set: string,
  values: [domain: string, source: string | null, ...rest: readonly unknown[]],
): Promise<void> => {
  await database.query(
    `update collecting.target set ${set} where domain = $1 and ($2::text is null or source = $2)`,
    values,
  );
};

export const pauseTargets = (
  database: Database,
  domain: string,
  source: string | null,
  _now: Date,
  reason: string,
): Promise<void> => change(database, 'paused = $3', [domain, source, reason.slice(0, REASON_MAX_LENGTH)]);

export const resumeTargets = (database: Database, domain: string, source: string | null): Promise<void> =>
  change(database, 'paused = null', [domain, source]);

/** Makes targets due in spite of failures. Asks again for refused social pages, but keeps the rest time of hosts. */
export const retryTargets = async (
  database: Database,
  domain: string,
  source: string | null,
  now: Date,
): Promise<void> => {
  await change(database, 'due_at = least(due_at, $3), retry_at = null', [domain, source, now]);
  if (source !== null && source !== 'ads_archive') return;
  await database.query(
    `update collecting.archive_page set paused = null, paused_at = null, paused_of = '{}' where $1 = any(paused_of)`,
    [domain],
  );
};
