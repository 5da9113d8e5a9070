import type { Command } from 'commander';

export type RegisterCommands = (program: Command) => void;

/** By the first word of a command line, in the order of the help text. Each entry loads its code. */
export type CommandGroups = Readonly<Record<string, () => Promise<RegisterCommands>>>;

/** Loads one command, or all for the help text: loading all takes longer than most commands run. */
export const loadCommands = (
  groups: CommandGroups,
  words: readonly string[],
): Promise<readonly RegisterCommands[]> => {
  const name = words.find((word) => !word.startsWith('-')) ?? '';
  const load = Object.hasOwn(groups, name) ? groups[name] : undefined;
  return Promise.all([...new Set(load ? [load] : Object.values(groups))].map((one) => one()));
};
