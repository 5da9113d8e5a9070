import type { Command } from 'commander';
import { planSources } from '#application/collecting/plan-sources.ts';
import { PROMISED_HOURS, type SourcePlan } from '#application/collecting/plan-targets.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { forecast } from '#domain/collecting/forecast.ts';
import { BATCH_PAGES_MAX, callsOf, packBatches } from '#domain/collecting/pack-batches.ts';
import { isJson, printTable } from '#platform/command-line.ts';
import { LATE_SHOWN, PLAN_COLUMNS, planRows, readArchiveCallsPerHour } from './plan-rows.ts';
import { parseWhole } from './status.ts';
import { withDatabase } from './with-database.ts';

const PROCESSES_MAX = 100;
const PAGES_MAX = 200_000;
const ADS_MAX = 1_000_000;
const APPS_MAX = 100;

/** Supposed pages have equal ads and cadence, and are due at even intervals. */
const supposePages = (
  {
    pages,
    ads,
    callsPerHour,
  }: { readonly pages: number; readonly ads: number; readonly callsPerHour: number },
  cadence: 'daily' | 'weekly',
  now: Date,
): SourcePlan => {
  const batches = packBatches(Array.from({ length: pages }, (_, index) => ({ pageId: String(index), ads })));
  const nowMs = now.getTime();
  const intervalMs = cadence === 'daily' ? DAY_MS : 7 * DAY_MS;
  const readings = batches.map((batch, index) => ({
    id: String(index),
    cadence,
    dueMs: nowMs + (index / batches.length) * intervalMs,
    calls: callsOf(batch),
  }));
  const { turns: _, ...figures } = forecast(readings, { nowMs, callsPerHour, promisedHours: PROMISED_HOURS });
  const late = figures.late.flatMap((id) => batches[Number(id)]?.pageIds ?? []);
  const hasLooks = cadence === 'daily' && figures.load > 1;
  const looksPerDay = hasLooks ? Math.ceil(pages / BATCH_PAGES_MAX) : 0;
  const source = `ads_archive, supposed ${cadence}`;
  return { source, targets: pages, callsPerHour, ...figures, looksPerDay, late };
};

type Options = {
  readonly processes: number;
  readonly pages?: number;
  readonly ads: number;
  readonly apps?: number;
};

export const registerPlanCommand = (program: Command): void => {
  program
    .command('plan')
    .description(
      'forecast calls and days of a round, the share of the calls that is needed, and targets that will be late',
    )
    .option('--processes <count>', 'collectors that run', parseWhole(PROCESSES_MAX), 1)
    .option('--pages <count>', 'suppose so many pages at the library API instead', parseWhole(PAGES_MAX))
    .option('--ads <count>', 'active ads of each supposed page', parseWhole(ADS_MAX), 25)
    .option(
      '--apps <count>',
      'apps that ask the library API; the present accounts, or one for supposed pages, when absent',
      parseWhole(APPS_MAX),
    )
    .action(async ({ processes, pages, ads, apps }: Options, command: Command) => {
      const shown = isJson(command) ? Number.POSITIVE_INFINITY : LATE_SHOWN;
      const now = new Date();
      const archiveCallsPerHour = readArchiveCallsPerHour();
      if (pages !== undefined) {
        const plans = (['weekly', 'daily'] as const).map((cadence) =>
          supposePages({ pages, ads, callsPerHour: archiveCallsPerHour * (apps ?? 1) }, cadence, now),
        );
        return printTable(command, PLAN_COLUMNS.slice(0, -1), planRows(plans, shown));
      }
      const plans = await withDatabase((database) =>
        planSources(database, now, {
          archiveCallsPerHour,
          processes,
          ...(apps === undefined ? {} : { apps }),
        }),
      );
      printTable(command, PLAN_COLUMNS, planRows(plans, shown));
    });
};
