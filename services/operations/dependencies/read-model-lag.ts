import { isoTimeSql } from '#contracts/values/time.ts';
import { outsideTimeBudget, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { ReadRoute } from '#application/reads/read-routes.ts';
import { oldestOf } from '../endpoint/reply.ts';

/** The projector counts the log once a second. */
const TRUSTED_MS = 1_000;
/** Without a sample for this long no projector runs, and read models are as old as their last sample. */
const SAMPLES_STOPPED_SECONDS = 60;

/** Selects read models that lack events. One that never was up to date gets the time of its start. */
const BEHIND = `
  select p.name, ${isoTimeSql(`coalesce(
      (select max(at) from projector.sample s where s.name = p.name and s.lag_facts = 0), p.started_at)`)} as complete_at
  from projector.projection p join projector.lag l using (name)
  where l.lag_facts > 0 or (
    select max(at) from projector.sample s where s.name = p.name) < now() - interval '${SAMPLES_STOPPED_SECONDS} seconds'`;

export type ReadModelLag = {
  /** Last time at which no read model lacked an event, as ISO text. `null` when none is behind. */
  completeAt(route: ReadRoute, readModels: readonly string[]): Promise<string | null>;
};

type Behind = ReadonlyMap<string, string>;
type Reading = { readonly behind: Promise<Behind>; readonly atMs: number };

const read = async ({ db }: ReadRoute): Promise<Behind> => {
  const rows = await db.query<{ name: string; complete_at: string }>({ sql: BEHIND, values: [] });
  return new Map(rows.map((row) => [row.name, row.complete_at]));
};

/** Reads the lag of each database once a second; concurrent callers share the query. */
export const createReadModelLag = (): ReadModelLag => {
  const readings = new Map<string, Reading>();
  const readingOf = (route: ReadRoute): Reading => {
    const last = readings.get(route.name);
    if (last && performance.now() - last.atMs <= TRUSTED_MS) return last;
    // Others share it, whose time is not that of this request.
    const reading = { behind: outsideTimeBudget(() => read(route)), atMs: performance.now() };
    readings.set(route.name, reading);
    reading.behind.catch(() => {
      if (readings.get(route.name) === reading) readings.delete(route.name);
    });
    return reading;
  };
  return {
    completeAt: async (route, readModels) => {
      const behind = await untilTimeUsedUp(readingOf(route).behind);
      return oldestOf(readModels.map((name) => behind.get(name) ?? null));
    },
  };
};
