import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** How often it is written down where projections stand, and for how long that is kept. */
export const SAMPLE_EVERY_MS = 10_000;
const SAMPLES_KEPT_MINUTES = 60;
/** A projection that has events to apply and has not moved for so long is reported. */
export const STANDING_STILL_MS = 60_000;

const TAKE = `
  insert into projector.sample (at, name, position, facts_applied, lag_facts)
  select now(), p.name, p.position, p.facts_applied, l.lag_facts
  from projector.projection p join projector.lag l using (name)
  on conflict do nothing`;

const FORGET = `
  delete from projector.sample where at < now() - make_interval(mins => ${SAMPLES_KEPT_MINUTES})`;

/** Since when: the first sample after the last in which it was elsewhere, or had nothing to do. */
const REPORT = `
  with standing as (
    select p.name, case when l.lag_facts > 0 and not p.is_paused and s.since <= now() - make_interval(secs => $1)
      then s.since end as since
    from projector.projection p join projector.lag l using (name) cross join lateral (
      select min(at) as since from projector.sample a
      where a.name = p.name and a.at > coalesce((
        select max(at) from projector.sample b
        where b.name = p.name and (b.position <> p.position or b.lag_facts = 0)), '-infinity')
    ) s
  )
  update projector.projection p set standing_since = s.since from standing s
  where p.name = s.name and p.standing_since is distinct from s.since
  returning p.name, p.position::text, p.standing_since`;

/** Writes down where all projections stand, and says which stand still though the log moved on. */
export const watchProjections = async (
  database: Database,
  log: Log,
  standingStillMs = STANDING_STILL_MS,
): Promise<void> => {
  await database.query(TAKE);
  await database.query(FORGET);
  const { rows } = await database.query<{ name: string; position: string; standing_since: Date | null }>(
    REPORT,
    [standingStillMs / 1_000],
  );
  for (const { name, position, standing_since } of rows) {
    if (standing_since) {
      log.error(
        { projection: name, position, since: standing_since },
        'projection stands still while the log moves',
      );
    } else log.info({ projection: name, position }, 'projection moves again');
  }
};
