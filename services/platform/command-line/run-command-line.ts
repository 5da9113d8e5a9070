import { inspect } from 'node:util';
import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { escapeCommandLine } from '../process/terminal-output.ts';
import { SettingsError } from '../settings.ts';
import { describeCommandError, describeServerError } from './describe-error.ts';

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
