import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { environmentWithLocalStack, readSettings, serverSettings } from '#platform/settings.ts';
import { escapeCommandLine } from '#platform/process/terminal-output.ts';
import { openProgress } from '../stack/progress.ts';
import { loadDemo } from './load-demo.ts';

/**
 * For benchmarks: `node deploy/local/demo/main.ts --brands 5000 --ads 1000000`. Uses the servers of a running `npm
 * start`; no settings are needed then.
 */
const Servers = z.object({
  DATABASE_URL: serverSettings.DATABASE_URL,
  EVENT_STORE_URL: serverSettings.EVENT_STORE_URL,
  NATS_URL: serverSettings.NATS_URL,
});

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('Must be an integer above 0.');
  return value;
};

const program = new Command('demo')
  .requiredOption('--brands <count>', 'number of brands', whole)
  .requiredOption('--ads <count>', 'number of ads', whole)
  .option('--days <count>', 'days of scans', whole, 60)
  .option('--seed <number>', 'seed of the corpus', whole, 1)
  .option('--state <file>', 'file that stores the progress', join('.data', 'demo-bench.json'))
  .action(async (options: { brands: number; ads: number; days: number; seed: number; state: string }) => {
    const settings = readSettings(Servers, environmentWithLocalStack());
    const interrupted = new AbortController();
    process.once('SIGINT', () =>
      interrupted.abort(new Error('Interrupted. Run the same command to resume.')),
    );
    const { brands, ads, days, seed } = options;
    await loadDemo(
      {
        databaseUrl: settings.DATABASE_URL,
        eventStoreUrl: settings.EVENT_STORE_URL,
        natsUrl: settings.NATS_URL,
      },
      { brands, ads, days, seed },
      0,
      false,
      resolve(options.state),
      openProgress(process.stdout, Date.now()),
      interrupted.signal,
    );
  });

escapeCommandLine(program);
try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
