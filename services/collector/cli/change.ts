import { type Command, Option } from 'commander';
import type { Database } from '#platform/postgres/pool.ts';
import { listTargets } from '#application/collecting/target-states.ts';
import { ARCHIVE_SOURCE } from '../ads-archive/archive-batch-store.ts';
import { SOURCES } from '../settings.ts';
import { printTargets, requireTargets } from './status.ts';
import { withDatabase } from './with-database.ts';

const REASON_MAX_LENGTH = 200;

const changeTargets = async (
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
): Promise<void> =>
  changeTargets(database, 'paused = $3', [domain, source, reason.slice(0, REASON_MAX_LENGTH)]);

export const resumeTargets = (database: Database, domain: string, source: string | null): Promise<void> =>
  changeTargets(database, 'paused = null', [domain, source]);

/** Makes targets due in spite of failures. Asks again for refused social pages, but keeps the rest time of hosts. */
export const retryTargets = async (
  database: Database,
  domain: string,
  source: string | null,
  now: Date,
): Promise<void> => {
  // One statement, because a target that is due next to a page that is still paused ends as refused again.
  await database.query(
    `with asked as (
       update collecting.archive_page set paused = null, paused_at = null, paused_of = '{}'
       where $1 = any(paused_of) and coalesce($2, $4) = $4
     ) update collecting.target set due_at = least(due_at, $3), retry_at = null
     where domain = $1 and ($2::text is null or source = $2)`,
    [domain, source, now, ARCHIVE_SOURCE],
  );
};

type Change = (database: Database, domain: string, source: string | null, now: Date) => Promise<void>;
type Options = { readonly source?: string };

const TARGETS_OF_DOMAIN_MAX = 100;

const changeAndPrint = (domain: string, { source }: Options, command: Command, change: Change) =>
  withDatabase(async (database) => {
    const now = new Date();
    await change(database, domain, source ?? null, now);
    const all = await listTargets(database, now, { domain, limit: TARGETS_OF_DOMAIN_MAX });
    const changed = all.filter((target) => source === undefined || target.source === source);
    printTargets(command, requireTargets(domain, changed));
  });

export const registerChangeCommands = (program: Command): void => {
  const sourceOption = () =>
    new Option('--source <source>', 'change the target of this source only').choices(SOURCES);
  program
    .command('pause')
    .description('stop reading a domain; a reading that runs goes on to its end')
    .argument('<domain>')
    .option('--reason <text>', 'shown with the target', 'paused by an operator')
    .addOption(sourceOption())
    .action(async (domain: string, options: Options & { reason: string }, command: Command) => {
      await changeAndPrint(domain, options, command, (database, ...target) =>
        pauseTargets(database, ...target, options.reason),
      );
    });
  program
    .command('resume')
    .description('read a paused domain again, when it is due')
    .argument('<domain>')
    .addOption(sourceOption())
    .action(async (domain: string, options: Options, command: Command) => {
      await changeAndPrint(domain, options, command, resumeTargets);
    });
  program
    .command('retry')
    .description(
      'read a domain now, with social pages that the library refused; a host that refused keeps its rest, and a paused target stays paused',
    )
    .argument('<domain>')
    .addOption(sourceOption())
    .action(async (domain: string, options: Options, command: Command) => {
      await changeAndPrint(domain, options, command, retryTargets);
    });
};
