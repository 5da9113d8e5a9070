import type { Command } from 'commander';

/** A terminal executes what texts of third parties contain. */

/** Without tab and line feed. */
const EXECUTED = /[\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]|[^\P{Cc}\t\n]/gu;
const BREAKING = /[\t\n]/g;
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Escape of a character, which is also valid in JSON. */
const escapeOf = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes what a terminal executes or reorders. Line feeds and tabs stay, and JSON texts keep their value. */
export const terminalText = (text: string): string => text.replaceAll(EXECUTED, escapeOf);

/** Escapes line feeds and tabs, too, because they would break a table. */
export const terminalLine = (text: string): string => terminalText(text).replaceAll(BREAKING, escapeOf);

type Console = Pick<typeof console, 'log' | 'error'>;

/** Returns a function that ends the escaping. */
export const escapeConsole = (target: Console = console): (() => void) => {
  const { log, error } = target;
  const escaped = (values: readonly unknown[]): unknown[] =>
    values.map((value) => (typeof value === 'string' ? terminalText(value) : value));
  target.log = (...values: readonly unknown[]) => log(...escaped(values));
  target.error = (...values: readonly unknown[]) => error(...escaped(values));
  return () => Object.assign(target, { log, error });
};

/** Escapes errors about words and options, because they repeat these. */
const escapeErrors = (command: Command): void => {
  command.configureOutput({ writeErr: (text) => process.stderr.write(terminalText(text)) });
  for (const subcommand of command.commands) escapeErrors(subcommand);
};

export const escapeCommandLine = (program: Command): void => {
  escapeConsole();
  escapeErrors(program);
};
