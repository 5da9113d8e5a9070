import { Command } from 'commander';
import type { CommandGroups, RegisterCommands } from '#platform/command-line.ts';

const loadAddCommands = async () => (await import('./add.ts')).registerAddCommands;
const loadChangeCommands = async () => (await import('./change.ts')).registerChangeCommands;

export const COMMANDS: CommandGroups = {
  add: loadAddCommands,
  link: loadAddCommands,
  status: async () => (await import('./status.ts')).registerStatusCommand,
  plan: async () => (await import('./status.ts')).registerPlanCommand,
  pause: loadChangeCommands,
  resume: loadChangeCommands,
  retry: loadChangeCommands,
  token: async () => (await import('./token.ts')).registerTokenCommands,
};

export const createProgram = (commands: readonly RegisterCommands[]): Command => {
  const program = new Command('collect')
    .description('show and steer what the collector reads')
    .option('--json', 'print JSON');
  for (const register of commands) register(program);
  return program;
};
