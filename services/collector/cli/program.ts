import { Command } from 'commander';
import { registerAddCommands } from './add.ts';
import { registerChangeCommands } from './change.ts';
import { registerPlanCommand } from './plan.ts';
import { registerStatusCommand } from './status.ts';
import { registerTokenCommands } from './token.ts';

/** Creates the command line of the collector, `npm run collect -- …`. */
export const createProgram = (): Command => {
  const program = new Command('collect')
    .description('show and steer what the collector reads')
    .option('--json', 'print JSON');
  for (const register of [
    registerAddCommands,
    registerStatusCommand,
    registerPlanCommand,
    registerChangeCommands,
    registerTokenCommands,
  ]) {
    register(program);
  }
  return program;
};
