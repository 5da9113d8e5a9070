import { ARCHIVE_CALLS_PER_HOUR } from '#domain/collecting/pace.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { planArchive } from './plan-archive.ts';
import { planTargets, type SourcePlan } from './plan-targets.ts';

/**
 * Forecasts each source that has targets: shops and sites with `processes` collectors, and the library API with `apps` apps.
 * Returns none before the tables exist.
 */
export const planSources = async (
  database: Database,
  now: Date,
  { processes = 1, apps = 1 }: { readonly processes?: number; readonly apps?: number } = {},
): Promise<readonly SourcePlan[]> => {
  const [own, archive] = await Promise.all([
    planTargets(database, now, processes),
    planArchive(database, now, ARCHIVE_CALLS_PER_HOUR * apps),
  ]);
  return archive === null || archive.targets === 0 ? own : [...own, archive];
};

/** A plan as operators see it, with at most `lateMax` late targets by name. */
export const planRecord = (plan: SourcePlan, lateMax: number) => ({
  source: plan.source,
  targets: plan.targets,
  calls_an_hour: plan.callsPerHour,
  calls_a_round: plan.callsPerRound,
  days_a_round: plan.daysPerRound,
  load: plan.load,
  late: plan.late.length,
  late_targets: plan.late.slice(0, lateMax),
});
