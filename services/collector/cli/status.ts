import { type Command, InvalidArgumentError, Option } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { readLibraryAccounts } from '#application/collecting/library-account.ts';
import { type ListedTarget, listTargets } from '#application/collecting/list-targets.ts';
import { planSources } from '#application/collecting/plan-sources.ts';
import { countTargets, TARGET_STATES, type TargetState } from '#application/collecting/target-states.ts';
import { ARCHIVE_STATES, readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { LATE_SHOWN, PLAN_COLUMNS, planRows, readArchiveCallsPerHour } from './plan-rows.ts';
import { withDatabase } from './with-database.ts';

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
