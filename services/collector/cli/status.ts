import { z } from 'zod';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { archivePaceSettings } from '#application/collecting/archive-pace-settings.ts';
import {
  PROMISED_HOURS,
  type SourcePlan,
  planRecord,
  planSources,
} from '#application/collecting/plan-sources.ts';
import { environmentWithLocalStack, readSettings } from '#platform/settings.ts';
import { Refusal } from '#contracts/errors.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import {
  type ListedTarget,
  TARGET_STATES,
  type TargetState,
  countTargets,
  listTargets,
} from '#application/collecting/target-states.ts';
import { ARCHIVE_STATES, readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { forecast } from '#domain/collecting/forecast.ts';
import { BATCH_PAGES_MAX, callsOf, packBatches } from '#domain/collecting/pack-batches.ts';
import { withDatabase } from './with-database.ts';

export const LATE_SHOWN = 10;
export const PLAN_COLUMNS = [
  'source',
  'targets',
  'calls_a_round',
  'days_a_round',
  'load',
  'looks_a_day',
  'late',
  'late_targets',
];

export const readArchiveCallsPerHour = (): number =>
  readSettings(z.object(archivePaceSettings), environmentWithLocalStack()).ADS_ARCHIVE_CALLS_PER_HOUR;

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

export const planRows = (plans: readonly SourcePlan[], lateMax: number) =>
  plans.map((plan) => ({
    ...planRecord(plan, lateMax),
    days_a_round: round(plan.daysPerRound),
    load: round(plan.load),
  }));

const TARGETS_DEFAULT = 100;
const TARGETS_MAX = 10_000;

export const parseWhole =
  (max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1 || value > max) {
      throw new InvalidArgumentError(`Give a whole number from 1 to ${max}.`);
    }
    return value;
  };

const TARGET_COLUMNS = ['source', 'domain', 'cadence', 'states', 'due_at', 'scanned_at', 'outcome', 'detail'];

export const printTargets = (command: Command, targets: readonly ListedTarget[]): void =>
  printTable(
    command,
    targets.some(({ paused }) => paused !== null) ? [...TARGET_COLUMNS, 'paused'] : TARGET_COLUMNS,
    targets,
  );

export const requireTargets = (domain: string, targets: readonly ListedTarget[]): readonly ListedTarget[] => {
  if (targets.length > 0) return targets;
  throw new Refusal(
    'not_found',
    `The collector has no target ${domain}. A tracked brand becomes one when its scan is requested.`,
  );
};

/** `null` when the archive was never on. */
const mediaRecord = async (database: Database, now: Date) => {
  const status = await readArchiveStatus(database, now);
  if (status === null) return null;
  const { mode, files, bytes, quotaBytes, room } = status;
  const counts = Object.fromEntries(ARCHIVE_STATES.map((state) => [state, files[state]]));
  return { mode, ...counts, bytes, quota_bytes: quotaBytes, room };
};

/** Includes the forecast, the accounts and the media archive. */
const printStatus = async (command: Command, database: Database, now: Date): Promise<void> => {
  const [sources, plans, accounts, media] = await Promise.all([
    countTargets(database, now),
    planSources(database, now, { archiveCallsPerHour: readArchiveCallsPerHour() }),
    readLibraryAccounts(database, now),
    mediaRecord(database, now),
  ]);
  if (isJson(command)) {
    const rows = planRows(plans, Number.POSITIVE_INFINITY);
    return console.log(JSON.stringify({ sources, plans: rows, accounts, media }));
  }
  printTable(command, ['source', 'targets', ...TARGET_STATES], sources);
  if (plans.length > 0) {
    console.log('\nforecast of a round');
    printTable(command, PLAN_COLUMNS, planRows(plans, LATE_SHOWN));
  }
  for (const account of accounts) {
    console.log('\naccount of the official library API');
    printRecord(command, account);
  }
  if (media !== null) {
    console.log('\nmedia archive');
    printRecord(command, media);
  }
};

export const registerStatusCommand = (program: Command): void => {
  program
    .command('status')
    .description(
      'show targets by state, the forecast, the accounts of the library API and the media archive, or list targets',
    )
    .argument('[domain]', 'show the targets of this domain')
    .addOption(new Option('--state <state>', 'list the targets in this state').choices(TARGET_STATES))
    .option('--limit <count>', 'targets that are listed at most', parseWhole(TARGETS_MAX), TARGETS_DEFAULT)
    .action(
      async (
        domain: string | undefined,
        { state, limit }: { state?: TargetState; limit: number },
        command: Command,
      ) => {
        await withDatabase(async (database) => {
          const now = new Date();
          if (domain === undefined && state === undefined) return await printStatus(command, database, now);
          const found = await listTargets(database, now, {
            limit,
            ...(domain === undefined ? {} : { domain }),
            ...(state === undefined ? {} : { states: [state] }),
          });
          if (domain !== undefined && state === undefined) requireTargets(domain, found);
          printTargets(command, found);
        });
      },
    );
};

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
