import { Argument, type Command } from 'commander';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { PLANS } from '#contracts/values/access.ts';
import { printRecord } from '#platform/command-line.ts';
import { withOpsDependencies } from '../dependencies.ts';
import { setPlan } from '#services/ops/workspaces/operations.ts';

export const registerPlanCommands = (program: Command): void => {
  const plan = program.command('plan').description('manage the plan of a workspace');
  plan
    .command('set')
    .description('set the plan of a workspace')
    .argument('<workspace>', 'workspace id')
    .addArgument(new Argument('<plan>', 'new plan').choices(Object.keys(PLANS)))
    .action(async (workspaceId: string, name: Plan, _options: object, command: Command) => {
      printRecord(
        command,
        await withOpsDependencies((dependencies) => setPlan(dependencies, workspaceId, name)),
      );
    });
};
