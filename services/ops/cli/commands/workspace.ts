import { type Command, Option } from 'commander';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { PLANS } from '#contracts/values/access.ts';
import { listWorkspaces } from '#projections/workspaces/read.ts';
import { printRecord, printTable } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { createWorkspaceNamed } from '#services/ops/workspaces/operations.ts';

export const registerWorkspaceCommands = (program: Command): void => {
  const workspace = program.command('workspace').description('create and list workspaces');
  workspace
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'display name')
    .addOption(
      new Option('--plan <plan>', 'plan; sets brand slots and requests per minute')
        .choices(Object.keys(PLANS))
        .default('free'),
    )
    .action(async (options: { name: string; plan: Plan }, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) =>
          createWorkspaceNamed(dependencies, options.name, options.plan),
        ),
      );
    });
  workspace
    .command('list')
    .description('list workspaces, newest first')
    .action(async (_options: object, command: Command) => {
      const rows = await withOpsDependencies(({ db }) => listWorkspaces(db));
      printTable(command, ['workspace_id', 'name', 'plan', 'members', 'created_at'], rows);
    });
};
