import type { Command } from 'commander';

/** Adds commands to a program. */
export type RegisterCommands = (program: Command) => void;

/** Commands by the first word of their command line, in the order of the help text. Each entry loads its code. */
export type CommandGroups = Readonly<Record<string, () => Promise<RegisterCommands>>>;

/**
 * Loads the code of the command that `words` name. Without a known name, as for the help text, loads that of all commands.
 * The code of all commands takes longer to load than most commands take to run.
 */
export const loadCommands = (
  groups: CommandGroups,
  words: readonly string[],
): Promise<readonly RegisterCommands[]> => {
  const name = words.find((word) => !word.startsWith('-')) ?? '';
  const load = Object.hasOwn(groups, name) ? groups[name] : undefined;
  return Promise.all([...new Set(load ? [load] : Object.values(groups))].map((one) => one()));
};
