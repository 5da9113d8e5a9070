import type { Command } from 'commander';
import { planStorefronts, PROMISED_HOURS, type SourcePlan } from '#application/collecting/plan-targets.ts';
import { planArchive } from '#application/collecting/plan-archive.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { forecast } from '#domain/collecting/forecast.ts';
import { callsOf, packBatches } from '#domain/collecting/pack-batches.ts';
import { ARCHIVE_CALLS_PER_HOUR } from '#domain/collecting/pace.ts';
import { isJson, printTable } from '#platform/command-line/output.ts';
import { parseWhole } from './status.ts';
import { withDatabase } from './with-database.ts';

const PROCESSES_MAX = 100;
const PAGES_MAX = 200_000;
const ADS_MAX = 1_000_000;
const APPS_MAX = 100;
/** Late targets that the table names. JSON has all. */
const LATE_SHOWN = 10;

const COLUMNS = ['source', 'targets', 'calls_a_round', 'days_a_round', 'load', 'late', 'late_targets'];

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

const rowOf = (plan: SourcePlan, shown: number) => ({
  source: plan.source,
  targets: plan.targets,
  calls_an_hour: plan.callsPerHour,
  calls_a_round: plan.callsPerRound,
  days_a_round: round(plan.daysPerRound),
  load: round(plan.load),
  late: plan.late.length,
  late_targets: plan.late.slice(0, shown),
});

/** Forecasts the scans of supposed pages, all with equal ads and cadence, due at even times of the interval. */
const supposePages = (
  pages: number,
  ads: number,
  apps: number,
  cadence: 'daily' | 'weekly',
  now: Date,
): SourcePlan => {
  const batches = packBatches(Array.from({ length: pages }, (_, index) => ({ pageId: String(index), ads })));
  const nowMs = now.getTime();
  const callsPerHour = ARCHIVE_CALLS_PER_HOUR * apps;
  const intervalMs = cadence === 'daily' ? DAY_MS : 7 * DAY_MS;
  const readings = batches.map((batch, index) => ({
    id: String(index),
    cadence,
    dueMs: nowMs + (index / batches.length) * intervalMs,
    calls: callsOf(batch),
  }));
  const { turns: _, ...figures } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  const late = figures.late.flatMap((id) => batches[Number(id)]?.pageIds ?? []);
  return { source: `ads_archive, supposed ${cadence}`, targets: pages, callsPerHour, ...figures, late };
};

type Options = {
  readonly processes: number;
  readonly pages?: number;
  readonly ads: number;
  readonly apps: number;
};

/** `collect plan [--processes COUNT] [--pages COUNT --ads COUNT --apps COUNT]` */
export const registerPlanCommand = (program: Command): void => {
  program
    .command('plan')
    .description(
      'forecast calls and days of a round, the share of the calls that is needed, and targets that will be late',
    )
    .option('--processes <count>', 'collectors that run', parseWhole(PROCESSES_MAX), 1)
    .option('--pages <count>', 'suppose so many pages at the library API instead', parseWhole(PAGES_MAX))
    .option('--ads <count>', 'active ads of each supposed page', parseWhole(ADS_MAX), 25)
    .option('--apps <count>', 'apps that ask the library API', parseWhole(APPS_MAX), 1)
    .action(async ({ processes, pages, ads, apps }: Options, command: Command) => {
      const shown = isJson(command) ? Number.POSITIVE_INFINITY : LATE_SHOWN;
      const now = new Date();
      if (pages !== undefined) {
        const plans = (['weekly', 'daily'] as const).map((cadence) =>
          supposePages(pages, ads, apps, cadence, now),
        );
        return printTable(
          command,
          COLUMNS.slice(0, -1),
          plans.map((plan) => rowOf(plan, shown)),
        );
      }
      const plans = await withDatabase((database) =>
        Promise.all([
          planStorefronts(database, now, processes),
          planArchive(database, now, ARCHIVE_CALLS_PER_HOUR * apps),
        ]),
      );
      const rows = plans
        .filter((plan) => plan !== null && plan.targets > 0)
        .map((plan) => rowOf(plan as SourcePlan, shown));
      printTable(command, COLUMNS, rows);
    });
};
