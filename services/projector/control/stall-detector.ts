import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';

export const SAMPLE_EVERY_MS = 10_000;
const SAMPLE_TTL_MINUTES = 60;
export const STALLED_AFTER_MS = 60_000;

const INSERT_SAMPLES = `
  insert into projector.sample (at, name, position, facts_applied, lag_facts)
  select now(), p.name, p.position, p.facts_applied, l.lag_facts
  from projector.projection p join projector.lag l using (name)
  on conflict do nothing`;

/** Keeps the last sample without lag: replies of a projection that is behind hold as of its time. */
const DELETE_OLD_SAMPLES = `
  delete from projector.sample s where at < now() - make_interval(mins => ${SAMPLE_TTL_MINUTES})
    and not (lag_facts = 0 and at = (
      select max(at) from projector.sample c where c.name = s.name and c.lag_facts = 0))`;

const UPDATE_STALLS = `
  with stall as (
    select p.name, case when l.lag_facts > 0 and not p.is_paused and s.since <= now() - make_interval(secs => $1)
      then s.since end as since
    from projector.projection p join projector.lag l using (name) cross join lateral (
      select min(at) as since from projector.sample a
      where a.name = p.name and a.at > coalesce((
        select max(at) from projector.sample b
        where b.name = p.name and (b.position <> p.position or b.lag_facts = 0)), '-infinity')
    ) s
  )
  update projector.read_model p set standing_since = s.since from stall s
  where p.name = s.name and p.standing_since is distinct from s.since
  returning p.name, (select v.position::text from projector.projection v where v.name = p.name) as position,
    p.standing_since`;

/** Logs projections that stalled or resumed. */
export const sampleProjections = async (
  database: Database,
  log: Log,
  stalledAfterMs = STALLED_AFTER_MS,
): Promise<void> => {
  const { rows } = await inTransaction(database, async (client) => {
    await client.query(INSERT_SAMPLES);
    await client.query(DELETE_OLD_SAMPLES);
    return client.query<{ name: string; position: string; standing_since: Date | null }>(UPDATE_STALLS, [
      stalledAfterMs / 1_000,
    ]);
  });
  for (const { name, position, standing_since } of rows) {
    if (standing_since) {
      log.error({ projection: name, position, since: standing_since }, 'projection stalled');
    } else log.info({ projection: name, position }, 'projection resumed');
  }
};
