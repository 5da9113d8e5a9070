import { type Command, Option } from 'commander';
import { listTargets } from '#application/collecting/list-targets.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { SOURCES } from '../settings.ts';
import { pauseTargets, resumeTargets, retryTargets } from '../schedule/change-targets.ts';
import { printTargets, requireTargets } from './status.ts';
import { withDatabase } from './with-database.ts';

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
