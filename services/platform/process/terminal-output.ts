import type { Command } from 'commander';

/** Output on a terminal. Names, errors and records come from third parties, and a terminal executes what they contain. */

/** Control, bidirectional and line-separating characters, without tab and line feed. */
const EXECUTED = /[\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]|[^\P{Cc}\t\n]/gu;
const BREAKING = /[\t\n]/g;
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Returns the escape of a character, which is also its escape in JSON. */
const escapeOf = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes characters that a terminal executes or reorders. Line feeds and tabs stay. JSON texts keep their value. */
export const terminalText = (text: string): string => text.replaceAll(EXECUTED, escapeOf);

/** Escapes the same characters, and line feeds and tabs, which would break a table. */
export const terminalLine = (text: string): string => terminalText(text).replaceAll(BREAKING, escapeOf);

type Console = Pick<typeof console, 'log' | 'error'>;

/** Makes the console of a command line escape every text that it prints. Returns a function that ends this. */
export const escapeConsole = (target: Console = console): (() => void) => {
  const { log, error } = target;
  const escaped = (values: readonly unknown[]): unknown[] =>
    values.map((value) => (typeof value === 'string' ? terminalText(value) : value));
  target.log = (...values: readonly unknown[]) => log(...escaped(values));
  target.error = (...values: readonly unknown[]) => error(...escaped(values));
  return () => Object.assign(target, { log, error });
};

/** Makes a command and its subcommands escape their errors about words and options, which repeat these. */
const escapeErrors = (command: Command): void => {
  command.configureOutput({ writeErr: (text) => process.stderr.write(terminalText(text)) });
  for (const subcommand of command.commands) escapeErrors(subcommand);
};

/** Makes a command line escape every text that it prints through the console, and its errors about words and options. */
export const escapeCommandLine = (program: Command): void => {
  escapeConsole();
  escapeErrors(program);
};
