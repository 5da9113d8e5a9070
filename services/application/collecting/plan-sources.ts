import type { Database } from '#platform/postgres/pool.ts';
import { readLibraryAccounts } from './library-account.ts';
import { planArchive } from './plan-archive.ts';
import { planTargets, type SourcePlan } from './plan-targets.ts';

/** Accounts that make calls, at least one. */
export const appsOf = async (database: Database, now: Date): Promise<number> =>
  Math.max(1, (await readLibraryAccounts(database, now)).filter(({ state }) => state !== 'off').length);

export type PlanLimits = {
  /** Calls an hour of each account: `ADS_ARCHIVE_CALLS_PER_HOUR`. */
  readonly archiveCallsPerHour: number;
  readonly processes?: number;
  readonly apps?: number;
};

/**
 * Shops and sites with `processes` collectors; the library API with `apps`, by default one per account with a valid
 * token. None before the tables exist.
 */
export const planSources = async (
  database: Database,
  now: Date,
  { archiveCallsPerHour, processes = 1, apps }: PlanLimits,
): Promise<readonly SourcePlan[]> => {
  const present = apps ?? (await appsOf(database, now));
  const [own, archive] = await Promise.all([
    planTargets(database, now, processes),
    planArchive(database, now, archiveCallsPerHour * present),
  ]);
  return archive === null || archive.targets === 0 ? own : [...own, archive];
};

/** Names at most `lateMax` late targets. */
export const planRecord = (plan: SourcePlan, lateMax: number) => ({
  source: plan.source,
  targets: plan.targets,
  calls_an_hour: plan.callsPerHour,
  calls_a_round: plan.callsPerRound,
  days_a_round: plan.daysPerRound,
  load: plan.load,
  looks_a_day: plan.looksPerDay,
  late: plan.late.length,
  late_targets: plan.late.slice(0, lateMax),
});
