import { type Command, Option } from 'commander';
import { projections } from '#projections/index.ts';
import { Refusal } from '#contracts/errors.ts';
import { isJson, onOneLine, printRecord, printTable } from '#platform/command-line.ts';
import {
  type Build,
  cancelRebuild,
  pauseProjection,
  readBuild,
  requestRebuild,
  resumeProjection,
  watchBuild,
} from '#services/ops/projections/builds.ts';
import { readDiff } from '#services/ops/projections/diff.ts';
import { readStatus } from '#services/ops/projections/status.ts';
import { withOpsDependencies, type OpsDependencies } from '../dependencies.ts';
import { createProgressBars, createWaitingNotice, formatState } from '../progress.ts';
import { registerParkedCommands } from './parked.ts';
import { registerVerifyCommand } from './verify.ts';

const rounded = (value: number | null, unit = ''): string =>
  value === null ? '?' : `${Math.round(value * 10) / 10}${unit}`;

const status = async (name: string | undefined, _options: object, command: Command): Promise<void> => {
  const all = await withOpsDependencies(({ pool, eventStore }) =>
    readStatus(pool, eventStore, projections, name ?? null),
  );
  if (isJson(command)) return console.log(JSON.stringify(all));
  const columns = [
    'name',
    'state',
    'version',
    'position',
    'lag_facts',
    'lag',
    'rate',
    'parked',
    'owner',
    'remarks',
  ];
  printTable(
    command,
    columns,
    all.map((one) => {
      const { build, code_version: code, version } = one;
      const remarks = [
        ...(one.owner === null ? ['no owner'] : []),
        ...(one.standing_since === null ? [] : [`stalled since ${one.standing_since}`]),
        ...(code === version ? [] : [code === null ? 'removed from the code' : `code has version ${code}`]),
        ...(build && ['reading', 'indexing', 'ready', 'asked'].includes(build.state)
          ? [`rebuild: ${formatState(build.state)}, ${build.facts} of ${build.total_facts} events`]
          : []),
        ...(build?.state === 'failed' ? [`rebuild failed: ${build.error}`] : []),
        ...(one.last_error === null || build?.error === one.last_error ? [] : [one.last_error]),
      ];
      return {
        ...one,
        build: null,
        lag: rounded(one.lag_seconds, ' s'),
        rate: rounded(one.rate_per_second, '/s'),
        remarks: remarks.join('; '),
      };
    }),
  );
};

const selectNames = async ({ pool, eventStore }: OpsDependencies, name: string | undefined, all: boolean) => {
  if ((name === undefined) !== all) {
    throw new Refusal('invalid_input', 'Specify either the name of a projection or --all.');
  }
  if (name !== undefined) return [name];
  return (await readStatus(pool, eventStore, projections))
    .filter(({ code_version: code }) => code !== null)
    .map((one) => one.name);
};

const formatOutcome = ({ name, state, facts: events, error }: Build): string => {
  if (state === 'done')
    return `${name}: rebuilt from ${events} events and swapped in. Verify it: ops projections verify ${name}`;
  if (state === 'cancelled') return `${name}: rebuild cancelled; live tables unchanged.`;
  if (state === 'failed') return `${name}: rebuild failed on an event; live tables unchanged. ${error}`;
  return `${name}: the rebuild continues in the projector (${formatState(state)}).`;
};

/** Prints the progress of rebuilds until they end. Ctrl-C ends only the display. */
const watch = async (dependencies: OpsDependencies, names: readonly string[]): Promise<readonly Build[]> => {
  const detaching = new AbortController();
  const detach = (): void => {
    detaching.abort();
    console.error('\nDetached. The rebuild continues; cancel it with `ops projections cancel NAME`.');
  };
  process.once('SIGINT', detach);
  const progress = createProgressBars();
  const noticeWaiting = createWaitingNotice();
  try {
    const builds = await Promise.all(
      names.map((name) =>
        watchBuild(
          dependencies.pool,
          name,
          (build) => {
            progress.show(
              name,
              build.facts,
              build.total_facts,
              build.state,
              build.rate_per_second,
              build.eta_seconds,
            );
            noticeWaiting(build.state);
          },
          detaching.signal,
        ),
      ),
    );
    return builds.filter((build) => build !== null);
  } finally {
    progress.end();
    process.off('SIGINT', detach);
  }
};

type RebuildOptions = { readonly all?: true; readonly from: 'start' | 'checkpoint'; readonly detach?: true };

/** Accepts running rebuilds with `--all`, so that the command can be repeated. */
const request = async (
  { pool }: OpsDependencies,
  name: string,
  { all, from }: RebuildOptions,
): Promise<void> => {
  try {
    await requestRebuild(pool, name, { from, by: 'ops' });
  } catch (error) {
    if (all !== true || !(error instanceof Refusal) || error.code !== 'already_exists') throw error;
    console.error(`A rebuild of ${name} is already running.`);
  }
};

const rebuild = async (
  name: string | undefined,
  options: RebuildOptions,
  command: Command,
): Promise<void> => {
  const builds = await withOpsDependencies(async (dependencies) => {
    const names = await selectNames(dependencies, name, options.all === true);
    for (const one of names) await request(dependencies, one, options);
    if (options.detach !== true) return await watch(dependencies, names);
    return (await Promise.all(names.map((one) => readBuild(dependencies.pool, one)))).filter(
      (build) => build !== null,
    );
  });
  if (builds.some(({ state }) => state === 'failed' || state === 'cancelled')) process.exitCode = 1;
  if (isJson(command)) return console.log(JSON.stringify(builds));
  for (const build of builds) console.log(onOneLine(formatOutcome(build)));
};

const diff = async (_options: object, command: Command): Promise<void> => {
  const differences = await withOpsDependencies(({ pool }) => readDiff(pool, projections));
  printTable(command, ['name', 'database_version', 'code_version', 'difference'], differences);
};

const change =
  (action: string, run: (pool: OpsDependencies['pool'], name: string) => Promise<void>) =>
  async (name: string, _options: object, command: Command): Promise<void> => {
    await withOpsDependencies(({ pool }) => run(pool, name));
    printRecord(command, { projection: name, asked: action });
  };

export const registerProjectionCommands = (program: Command): void => {
  const group = program
    .command('projections')
    .description('inspect, rebuild and verify projections (read models)');
  group
    .command('status')
    .description('show the status of all projections, or of one')
    .argument('[name]', 'name of a projection')
    .action(status);
  group
    .command('rebuild')
    .description('rebuild into new tables and swap them in; Ctrl-C detaches')
    .argument('[name]', 'name of a projection')
    .option('--all', 'rebuild every projection')
    .addOption(
      new Option('--from <where>', '`checkpoint` resumes a rebuild that stopped')
        .choices(['start', 'checkpoint'])
        .default('start'),
    )
    .option('--detach', 'request the rebuild and return at once')
    .action(rebuild);
  group
    .command('cancel')
    .description('cancel a rebuild and drop its tables; live tables unchanged')
    .argument('<name>', 'name of a projection')
    .action(change('cancel', cancelRebuild));
  registerVerifyCommand(group);
  group
    .command('pause')
    .description('pause a projection; its tables stay readable')
    .argument('<name>', 'name of a projection')
    .action(change('pause', pauseProjection));
  group
    .command('resume')
    .description('resume a paused projection')
    .argument('<name>', 'name of a projection')
    .action(change('resume', resumeProjection));
  registerParkedCommands(group);
  group
    .command('diff')
    .description('compare the versions of the tables with the versions of this code')
    .action(diff);
};
