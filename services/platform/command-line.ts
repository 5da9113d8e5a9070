import type { Command } from 'commander';
import { inspect } from 'node:util';
import { Refusal } from '#contracts/errors.ts';
import { isAccessDenied, toClearError } from './event-store/errors.ts';
import { isPoolBusy } from './postgres/connection-failure.ts';
import { escapeCommandLine, terminalLine } from './process/terminal-output.ts';
import { SettingsError } from './settings.ts';

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

/** Turns errors that operators can resolve into one line of text. */

type Fault = {
  readonly type?: string;
  readonly code?: unknown;
  readonly message?: string;
  readonly path?: unknown;
  readonly errors?: readonly Fault[];
};

const NOT_REACHED = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];
/** SQLSTATEs: login rejected, unknown database, too many connections, server starting or stopping. */
const NOT_LET_IN = /^(28|3D|53300|57P)/;
/** SQLSTATEs: undefined table, undefined schema. */
const NOT_MADE = ['42P01', '3F000'];
/** SQLSTATEs: insufficient privilege, read-only connection. */
const NOT_ALLOWED = ['42501', '25006'];
const TOOK_TOO_LONG = '57014';
const EVENT_STORE_FAULTS = ['unavailable', 'timeout', 'deadline-exceeded'];
/** Beginnings of the connection errors of `pg` that have no code. */
const LOST = [
  'Connection terminated',
  'Client has encountered a',
  'The server does not support SSL connections',
];
const NOT_TRUSTED = /CERT|TLS|SSL|UNABLE_TO/;

const firstOf = (error: unknown): Fault => {
  const fault = (error ?? {}) as Fault;
  // A host name with several addresses yields an AggregateError. Its first error is reported.
  return fault.errors?.[0] ?? fault;
};

const reasonOf = ({ message = '' }: Fault): string =>
  (message.split('\n')[0] ?? '').replace(/ Resolution note: ?$/, '');

/** `null` for errors other than an unreachable or slow server. */
export const describeServerError = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { type = '', code, message = '' } = fault;
  if (isAccessDenied(fault)) {
    const refused = reasonOf(toClearError(fault));
    return `${refused.charAt(0).toUpperCase()}${refused.slice(1)}.`;
  }
  if (EVENT_STORE_FAULTS.includes(type))
    return `The event store does not respond: ${reasonOf(fault)} Check EVENT_STORE_URL.`;
  if (code === TOOK_TOO_LONG) return 'The Postgres query timed out. Request less data at once.';
  const isPostgres =
    typeof code === 'string'
      ? NOT_REACHED.includes(code) || NOT_LET_IN.test(code) || NOT_TRUSTED.test(code)
      : isPoolBusy(fault) || LOST.some((start) => message.startsWith(start));
  return isPostgres ? `Postgres does not respond: ${reasonOf(fault)}. Check DATABASE_URL.` : null;
};

/** `null` for errors other than a missing table, a missing privilege or a file. */
export const describeCommandError = (error: unknown): string | null => {
  const fault = firstOf(error);
  const { code } = fault;
  if (typeof code !== 'string') return null;
  if (NOT_MADE.includes(code))
    return `The database is missing a table this command needs: ${reasonOf(fault)}. Start the service against it first, beginning with the projector.`;
  if (NOT_ALLOWED.includes(code))
    return `The role in DATABASE_URL lacks the required privileges: ${reasonOf(fault)}.`;
  return typeof fault.path === 'string' ? `${reasonOf(fault)}.` : null;
};

type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, Value>>;

export const isJson = (command: Command): boolean => Boolean(command.optsWithGlobals()['json']);

/** Commands print lines of third parties through it. */
export const onOneLine = terminalLine;

const asText = (value: Value): string => {
  if (value === null) return '-';
  return onOneLine(typeof value === 'object' ? value.join(', ') : String(value));
};

export const printRecord = (command: Command, record: Fields): void => {
  if (isJson(command)) return console.log(JSON.stringify(record));
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) console.log(`${name.padEnd(width)}  ${asText(value)}`);
};

/** Reports an empty list on standard error only, so that the output stays parseable. */
export const printTable = (
  command: Command,
  columns: readonly string[],
  records: readonly Fields[],
): void => {
  if (isJson(command)) return console.log(JSON.stringify(records));
  if (records.length === 0) console.error('none');
  const rows = [columns, ...records.map((record) => columns.map((column) => asText(record[column] ?? '')))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
};

/** A known error becomes one message and exit code 1. Printed text is escaped. */
export const runCommandLine = async (program: Command): Promise<void> => {
  // The reader of a pipe, such as `head`, may close it early, which is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  escapeCommandLine(program);
  try {
    await program.parseAsync();
  } catch (error) {
    const ownMessage =
      error instanceof Refusal || error instanceof SettingsError
        ? error.message
        : describeCommandError(error);
    const text = ownMessage ?? describeServerError(error);
    // Printed here and not thrown, so that the text of an unknown error is escaped.
    console.error(text ?? inspect(error));
    if (text !== null && (error instanceof SettingsError || ownMessage === null)) {
      console.error('While `npm start` runs, no settings are needed. DATA_DIR must name its data folder.');
    }
    process.exitCode = 1;
  }
};
