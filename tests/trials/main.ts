import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runVitest, type VitestRun } from '../run-vitest.ts';
import { type Campaign, CAMPAIGNS } from './campaigns.ts';

/** Runs the long forms with fresh seeds, and prints the figures with bounds and the settings that repeat a run. */

/** Default limit of all campaigns together. */
const MINUTES = 600;
/** Maximum of `--minutes`. In milliseconds it is a time limit of a test, which a timer must be able to wait for. */
const MINUTES_MAX = 10_000;
const SEED_MAX = 2 ** 31 - 1;
const FACTOR_MAX = 10_000;

const usage = (): string =>
  [
    'Usage: npm run trial -- [campaign...] [--seed N] [--runs N] [--minutes N]',
    '',
    'Without names, runs all campaigns in this order:',
    ...Object.entries(CAMPAIGNS).map(([name, { about }]) => `  ${name.padEnd(16)} ${about}`),
    '',
    '--seed N      seed of every campaign (default: a random one for each)',
    '--runs N      multiplies the values, worlds or rounds of each campaign (default 1)',
    `--minutes N   ends all campaigns after N minutes, as failed (default ${MINUTES})`,
  ].join('\n');

const wholeNumber = (name: string, text: string, max: number): number => {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new Error(`--${name} is a whole number from 1 to ${max}, not ${text}`);
};

const readArguments = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      runs: { type: 'string' },
      minutes: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const unknown = positionals.find((name) => !(name in CAMPAIGNS));
  if (unknown !== undefined) throw new Error(`there is no campaign ${unknown}; see --help`);
  return {
    isHelp: values.help === true,
    names: positionals.length > 0 ? positionals : Object.keys(CAMPAIGNS),
    seed: values.seed === undefined ? null : wholeNumber('seed', values.seed, SEED_MAX),
    factor: wholeNumber('runs', values.runs ?? '1', FACTOR_MAX),
    minutes: wholeNumber('minutes', values.minutes ?? String(MINUTES), MINUTES_MAX),
  };
};

type Run = {
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, number>>;
  /** Limit of a test that sets none itself. Each wait in a test has its own limit. */
  readonly testLimitMs: number;
};

const runCampaign = ({ files, settings, testLimitMs }: Run, limit: AbortSignal): Promise<VitestRun> =>
  runVitest(
    [
      '--reporter=default',
      '--reporter=tests/trials/reporter.ts',
      // No file is timed while another one runs.
      '--no-file-parallelism',
      `--testTimeout=${testLimitMs}`,
      ...files,
    ],
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
    limit,
  );

const runTrials = async (): Promise<void> => {
  const { isHelp, names, seed, factor, minutes } = readArguments();
  if (isHelp) {
    console.log(usage());
    return;
  }
  const limit = AbortSignal.timeout(minutes * 60_000);
  const failed: string[] = [];
  for (const name of names) {
    const { about, files, settings } = CAMPAIGNS[name] as Campaign;
    const chosen = settings(seed ?? randomInt(1, SEED_MAX), factor);
    const repeat = Object.entries(chosen).map(([variable, value]) => `${variable}=${value}`);
    console.log(`\n${name}: ${about}\n${repeat.join(' ')}`);
    if (!limit.aborted) {
      const run = { files, settings: chosen, testLimitMs: minutes * 60_000 };
      const { exitCode, signalled } = await runCampaign(run, limit);
      if (signalled !== null) throw new Error(`${name} was ended by ${signalled}`);
      if (exitCode === 0) continue;
    }
    failed.push(`${name}${limit.aborted ? ` (ended after ${minutes} minutes)` : ''}, ${repeat.join(' ')}`);
  }
  console.log(failed.length === 0 ? '\nAll campaigns passed.' : `\nFailed:\n  ${failed.join('\n  ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
};

try {
  await runTrials();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
