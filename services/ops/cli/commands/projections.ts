import { type Command, Option } from 'commander';
import { projections } from '#projections/index.ts';
import { Refusal } from '#contracts/errors.ts';
import { isJson, onOneLine, printRecord, printTable } from '../output.ts';
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
import { openProgress, openWaitingNotice } from '../progress.ts';
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
        ...(one.owner === null ? ['nobody projects it'] : []),
        ...(one.standing_since === null ? [] : [`stands still since ${one.standing_since}`]),
        ...(code === version ? [] : [code === null ? 'no code for it' : `code is version ${code}`]),
        ...(build && ['reading', 'indexing', 'ready', 'asked'].includes(build.state)
          ? [`build: ${build.state}, ${build.facts} of ${build.total_facts} events`]
          : []),
        ...(build?.state === 'failed' ? [`build failed: ${build.error}`] : []),
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

const namesOf = async ({ pool, eventStore }: OpsDependencies, name: string | undefined, all: boolean) => {
  if ((name === undefined) !== all) {
    throw new Refusal('invalid_input', 'Say what to rebuild: the name of a projection, or --all.');
  }
  if (name !== undefined) return [name];
  return (await readStatus(pool, eventStore, projections))
    .filter(({ code_version: code }) => code !== null)
    .map((one) => one.name);
};

const outcomeOf = ({ name, state, facts: events, error }: Build): string => {
  if (state === 'done')
    return `${name}: rebuilt from ${events} events and swapped in. Prove it with: ops projections verify ${name}`;
  if (state === 'cancelled') return `${name}: cancelled; the live tables are as they were.`;
  if (state === 'failed')
    return `${name}: stopped at an event that cannot be applied; the live tables are as they were. ${error}`;
  return `${name}: goes on in the projector (${state}).`;
};

/** Shows builds until they are over; Ctrl-C leaves them to the projector. */
const watch = async (dependencies: OpsDependencies, names: readonly string[]): Promise<readonly Build[]> => {
  const detaching = new AbortController();
  const detach = (): void => {
    detaching.abort();
    console.error('\nDetached. The projector goes on; `ops projections cancel NAME` stops it.');
  };
  process.once('SIGINT', detach);
  const progress = openProgress();
  const noticeWaiting = openWaitingNotice();
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

/** Of all, those that are under way go on: `--all` said again asks for the rest. */
const request = async (
  { pool }: OpsDependencies,
  name: string,
  { all, from }: RebuildOptions,
): Promise<void> => {
  try {
    await requestRebuild(pool, name, { from, by: 'ops' });
  } catch (error) {
    if (all !== true || !(error instanceof Refusal) || error.code !== 'already_exists') throw error;
    console.error(`A build of ${name} is under way already.`);
  }
};

const rebuild = async (
  name: string | undefined,
  options: RebuildOptions,
  command: Command,
): Promise<void> => {
  const builds = await withOpsDependencies(async (dependencies) => {
    const names = await namesOf(dependencies, name, options.all === true);
    for (const one of names) await request(dependencies, one, options);
    if (options.detach !== true) return await watch(dependencies, names);
    return (await Promise.all(names.map((one) => readBuild(dependencies.pool, one)))).filter(
      (build) => build !== null,
    );
  });
  if (builds.some(({ state }) => state === 'failed' || state === 'cancelled')) process.exitCode = 1;
  if (isJson(command)) return console.log(JSON.stringify(builds));
  for (const build of builds) console.log(onOneLine(outcomeOf(build)));
};

const diff = async (_options: object, command: Command): Promise<void> => {
  const differences = await withOpsDependencies(({ pool }) => readDiff(pool, projections));
  printTable(command, ['name', 'database_version', 'code_version', 'difference'], differences);
};

const change =
  (done: string, run: (pool: OpsDependencies['pool'], name: string) => Promise<void>) =>
  async (name: string, _options: object, command: Command): Promise<void> => {
    await withOpsDependencies(({ pool }) => run(pool, name));
    printRecord(command, { projection: name, asked: done });
  };

/** `ops projections status|rebuild|cancel|verify|pause|resume|parked|diff` */
export const registerProjectionCommands = (program: Command): void => {
  const group = program.command('projections').description('read models: how they stand, rebuild, verify');
  group
    .command('status')
    .description('how every projection stands, or one')
    .argument('[name]', 'projection')
    .action(status);
  group
    .command('rebuild')
    .description('build anew beside the live tables, and swap; Ctrl-C leaves it to the projector')
    .argument('[name]', 'projection')
    .option('--all', 'every projection')
    .addOption(
      new Option('--from <where>', 'checkpoint: go on with a build that stopped')
        .choices(['start', 'checkpoint'])
        .default('start'),
    )
    .option('--detach', 'ask for it and return')
    .action(rebuild);
  group
    .command('cancel')
    .description('stop a build and drop it; the live tables stay as they are')
    .argument('<name>', 'projection')
    .action(change('cancel', cancelRebuild));
  registerVerifyCommand(group);
  group
    .command('pause')
    .description('stop projecting; the tables are served as they are')
    .argument('<name>', 'projection')
    .action(change('pause', pauseProjection));
  group
    .command('resume')
    .description('go on projecting')
    .argument('<name>', 'projection')
    .action(change('resume', resumeProjection));
  registerParkedCommands(group);
  group.command('diff').description('versions of the tables against those of this code').action(diff);
};
