import { MultiBar, type SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { isJson, onOneLine, printRecord, printTable } from '#platform/command-line.ts';
import type { TableComparison } from '#contracts/messages/projector.ts';
import { projections } from '#projections/index.ts';
import { eventFields } from '../../log/search.ts';
import {
  PARKED_PAGE_MAX,
  ParkedCursor,
  ParkedPageLimit,
  listParked,
  nextParkedCursor,
  retryParked,
  showParked,
  skipParked,
} from '../../waiting-events.ts';
import { CapacityQuery, forecast, measureCapacity } from '../../capacity.ts';
import { readQuery } from '../../validate-query.ts';
import { type OpsDependencies, withOpsDependencies } from '../dependencies.ts';
import {
  type Build,
  type Verification,
  VerifyQuery,
  cancelRebuild,
  cancelVerification,
  isVerificationOver,
  pauseProjection,
  readBuild,
  readDiff,
  readStatus,
  requestRebuild,
  requestVerification,
  resumeProjection,
  watchBuild,
  watchVerification,
} from '../../projections.ts';

const REDRAWN_PER_SECOND = 5;
const LINE_EVERY_MS = 5_000;
const NAME_WIDTH = 20;
const ALL_NAME = 'all';

/** Time after which a request without a projector is reported as waiting. */
const TAKEN_UP_MS = 5_000;

export type Progress = {
  show(
    name: string,
    done: number,
    total: number,
    state: string,
    rate: number,
    etaSeconds: number | null,
  ): void;
  end(): void;
};

/** `asked` is the stored name of a request that has not started. */
export const formatState = (state: string): string => (state === 'asked' ? 'requested' : state);

const duration = (seconds: number): string => {
  const rounded = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(rounded / 60);
  return minutes === 0 ? `${rounded} s` : `${minutes} min ${rounded % 60} s`;
};

export const createWaitingNotice = (): ((state: string) => void) => {
  const startedMs = performance.now();
  let isPrinted = false;
  return (state) => {
    if (state !== 'asked' || isPrinted || performance.now() - startedMs < TAKEN_UP_MS) return;
    isPrinted = true;
    console.error('\nWaiting for the projector that owns this projection (busy or not running).');
  };
};

/** A bar for each of `count` projections, and one for all when they are several. */
export const createProgressBars = (count: number): Progress => {
  const bars = new MultiBar({
    format: '{name} {bar} {value} of {total} events, {pace}{state}',
    stream: process.stderr,
    fps: REDRAWN_PER_SECOND,
    noTTYOutput: true,
    notTTYSchedule: LINE_EVERY_MS,
    hideCursor: true,
    barsize: 24,
  });
  const barByName = new Map<string, SingleBar>();
  const seen = new Map<string, { readonly done: number; readonly total: number }>();
  const sumSeen = (pick: 'done' | 'total'): number =>
    [...seen.values()].reduce((sum, one) => sum + one[pick], 0);
  let begun: { readonly done: number; readonly atMs: number } | null = null;
  const draw = (
    name: string,
    done: number,
    total: number,
    state: string,
    rate: number,
    eta: number | null,
  ) => {
    const pace = [
      ...(rate > 0 ? [`${rate}/s, `] : []),
      ...(eta === null ? [] : [`${duration(eta)} left, `]),
    ].join('');
    const labels = { name: name.padEnd(NAME_WIDTH), state, pace };
    const bar = barByName.get(name) ?? bars.create(total, done, labels);
    barByName.set(name, bar);
    bar.setTotal(total);
    bar.update(done, labels);
  };
  /** Counts an event once for each projection. The rate is that since this command began. */
  const drawAll = (): void => {
    const [done, total] = [sumSeen('done'), sumSeen('total')];
    if (seen.size < count || total === 0) return;
    const nowMs = performance.now();
    begun ??= { done, atMs: nowMs };
    const rate = nowMs > begun.atMs ? ((done - begun.done) * 1_000) / (nowMs - begun.atMs) : 0;
    draw(
      ALL_NAME,
      done,
      total,
      `${count} projections`,
      Math.round(rate),
      rate > 0 ? (total - done) / rate : null,
    );
  };
  return {
    show: (name, done, total, state, rate, etaSeconds) => {
      draw(name, done, total, formatState(state), rate, etaSeconds);
      seen.set(name, { done, total });
      if (count > 1) drawAll();
    },
    end: () => bars.stop(),
  };
};

const ListOptions = z.strictObject({ limit: ParkedPageLimit, after: ParkedCursor.optional() });

const list = async (projection: string | undefined, options: object, command: Command): Promise<void> => {
  const { limit, after } = readQuery(ListOptions, options);
  const query = { projection: projection ?? null, stream: null, limit, after: after ?? null };
  const parked = await withOpsDependencies(({ pool }) => listParked(pool, query));
  printTable(
    command,
    ['projection', 'stream', 'type', 'position', 'waiting', 'attempts', 'parked_at', 'error'],
    parked,
  );
  const next = nextParkedCursor(parked, limit);
  if (next !== null && !isJson(command)) console.error(`More: --after ${next}`);
};

const show = async (
  projection: string,
  stream: string,
  _options: object,
  command: Command,
): Promise<void> => {
  const { fact: event, ...parked } = await withOpsDependencies(({ pool, eventStore }) =>
    showParked(pool, eventStore, projection, stream),
  );
  if (isJson(command))
    return console.log(JSON.stringify({ ...parked, fact: event === null ? null : eventFields(event) }));
  printRecord(command, parked);
  if (event === null) return console.error('The log no longer contains this event.');
  console.log(`\n${JSON.stringify(eventFields(event), null, 2)}`);
};

const retry = async (
  projection: string,
  streams: readonly string[],
  { all }: { all?: true },
  command: Command,
): Promise<void> => {
  if (streams.length > 0 === (all === true)) {
    throw new Refusal('invalid_input', 'Specify either stream names or --all.');
  }
  const requested = await withOpsDependencies(({ pool }) =>
    retryParked(pool, projection, all === true ? null : streams),
  );
  printRecord(command, { projection, streams_asked: requested });
};

const skip = async (
  projection: string,
  stream: string,
  _options: object,
  command: Command,
): Promise<void> => {
  await withOpsDependencies(({ pool }) => skipParked(pool, projection, stream));
  printRecord(command, { projection, stream, asked: 'skip' });
};

/** `ops projections parked list|show|retry|skip` */
export const registerParkedCommands = (group: Command): void => {
  const parked = group
    .command('parked')
    .description('inspect, retry and skip parked events (events that a projection could not apply)');
  parked
    .command('list')
    .description('list the first parked event of each stream')
    .argument('[projection]', 'name of a projection')
    .option('--limit <number>', `maximum streams, up to ${PARKED_PAGE_MAX}`)
    .option('--after <projection/stream>', 'last row of the previous page')
    .action(list);
  parked
    .command('show')
    .description('show the first parked event of a stream, with its error')
    .argument('<projection>', 'name of a projection')
    .argument('<stream>', 'stream name')
    .action(show);
  parked
    .command('retry')
    .description('apply parked events again, after the code is fixed')
    .argument('<projection>', 'name of a projection')
    .argument('[streams...]', 'stream names')
    .option('--all', 'retry every parked stream')
    .action(retry);
  parked
    .command('skip')
    .description('exclude the failed event of a stream for good and apply the events waiting behind it')
    .argument('<projection>', 'name of a projection')
    .argument('<stream>', 'stream name')
    .action(skip);
};

/** Maximum wait for a running projector to stop a cancelled verification. */
const CANCEL_WAIT_MS = 5_000;

const keyText = (key: Readonly<Record<string, string | null>>): string =>
  Object.entries(key)
    .map(([column, value]) => `${column}=${value ?? 'null'}`)
    .join(' ');

const differenceLines = ({
  table,
  live_rows,
  replayed_rows,
  groups,
  first_keys,
}: TableComparison): string[] => [
  `${table}: ${live_rows} rows live, ${replayed_rows} replayed`,
  ...(groups === null ? [] : [`  differs for ${groups.count} ${groups.column}: ${groups.first.join(', ')}`]),
  ...first_keys.map(({ key, only_in, columns }) => {
    const what =
      only_in === null
        ? `differs in ${columns.join(', ')}`
        : only_in === 'live'
          ? 'is unexpected'
          : 'is missing';
    return `  ${keyText(key)}: ${what}`;
  }),
];

const print = (verification: Verification): void => {
  const { name, state, error, report } = verification;
  if (!isVerificationOver(verification))
    return console.error(
      `${name}: ${formatState(state)}. The verification is cancelled when a projector is running.`,
    );
  if (report === null) return console.error(onOneLine(`${name}: ${state}. ${error ?? ''}`).trim());
  const { position, facts: events, left_out, tables } = report;
  const without = left_out === 0 ? '' : `, without ${left_out} parked or skipped events`;
  if (state === 'passed') {
    return console.log(
      `${name}: ${tables.length} tables equal a replay of ${events} events up to position ${position}${without}.`,
    );
  }
  for (const table of tables.filter((one) => !one.is_equal)) {
    for (const line of differenceLines(table)) console.log(onOneLine(line));
  }
  console.error(
    `${name}: the tables differ from a replay of ${events} events up to position ${position}${without}.`,
  );
};

/** The named projections, or all that the code has. */
const selectNames = async (
  { pool, eventStore }: OpsDependencies,
  names: readonly string[],
  all: boolean,
): Promise<readonly string[]> => {
  if ((names.length === 0) !== all) {
    throw new Refusal('invalid_input', 'Specify either names of projections or --all.');
  }
  if (!all) return [...new Set(names)];
  return (await readStatus(pool, eventStore, projections))
    .filter(({ code_version: code }) => code !== null)
    .map(({ name }) => name);
};

type VerifyOptions = { readonly all?: true; readonly to?: string };

/** Ctrl-C cancels the verifications, because only this command reads the results. */
const verify = async (
  given: readonly string[],
  { all, ...options }: VerifyOptions,
  command: Command,
): Promise<void> => {
  const { to } = readQuery(VerifyQuery, options);
  const verifications = await withOpsDependencies(async (dependencies) => {
    const { pool } = dependencies;
    const names = await selectNames(dependencies, given, all === true);
    for (const name of names) await requestVerification(pool, name, { to: to ?? null, by: 'ops' });
    const cancelling = new AbortController();
    const cancel = (): void => cancelling.abort();
    process.once('SIGINT', cancel);
    const progress = createProgressBars(names.length);
    const noticeWaiting = createWaitingNotice();
    const verifyOne = async (name: string): Promise<Verification | null> => {
      const seen = await watchVerification(
        pool,
        name,
        ({ facts: events, total_facts, state }) => {
          progress.show(name, events, total_facts, state, 0, null);
          noticeWaiting(state);
        },
        cancelling.signal,
      );
      if (!cancelling.signal.aborted) return seen;
      await cancelVerification(pool, name).catch((error: unknown) => {
        // The verification ended at the same moment.
        if (!(error instanceof Refusal)) throw error;
      });
      return await watchVerification(pool, name, () => undefined, AbortSignal.timeout(CANCEL_WAIT_MS));
    };
    try {
      return await Promise.all(names.map(verifyOne));
    } finally {
      progress.end();
      process.off('SIGINT', cancel);
    }
  });
  if (verifications.some((one) => one?.state !== 'passed')) process.exitCode = 1;
  const isList = all === true || given.length > 1;
  if (isJson(command)) console.log(JSON.stringify(isList ? verifications : verifications[0]));
  else for (const one of verifications) if (one) print(one);
};

export const registerVerifyCommand = (group: Command): void => {
  group
    .command('verify')
    .description(
      'replay into a shadow schema and compare with the live tables; exits 1 if they differ; Ctrl-C cancels',
    )
    .argument('[names...]', 'names of projections')
    .option('--all', 'verify every projection')
    .option('--to <position>', 'log position at which the projection is held meanwhile')
    .action(verify);
};

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

const formatOutcome = ({ name, state, facts: events, error }: Build): string => {
  if (state === 'done')
    return `${name}: rebuilt from ${events} events and swapped in. Verify it: ops projections verify ${name}`;
  if (state === 'cancelled') return `${name}: rebuild cancelled; live tables unchanged.`;
  if (state === 'failed') return `${name}: rebuild failed; live tables unchanged. ${error}`;
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
  const progress = createProgressBars(names.length);
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
  given: readonly string[],
  options: RebuildOptions,
  command: Command,
): Promise<void> => {
  const builds = await withOpsDependencies(async (dependencies) => {
    const names = await selectNames(dependencies, given, options.all === true);
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

const GROWTH = [1, 10, 100];

const bytesText = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;

const capacity = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(CapacityQuery, options);
  const measured = await withOpsDependencies(({ pool }) => measureCapacity(pool));
  const { events, read_models, replayed_per_second: rate } = measured;
  const sizes = query.events === undefined ? GROWTH.map((times) => events * times) : [query.events];
  const forecasts = sizes.map((size) => forecast(measured, size));
  if (isJson(command)) return console.log(JSON.stringify({ ...measured, forecasts }));
  if (events === 0)
    throw new Refusal('not_found', 'The log has no events yet, so there is nothing to measure.');
  printTable(
    command,
    ['read model', 'rows', 'size', 'bytes an event'],
    read_models.map(({ name, rows, bytes }) => ({
      'read model': name,
      rows,
      size: bytesText(bytes),
      'bytes an event': (bytes / events).toFixed(1),
    })),
  );
  console.log('');
  printTable(
    command,
    ['events', 'log', 'read models', 'while all are rebuilt', 'replay'],
    forecasts.map((one) => ({
      events: one.events,
      log: bytesText(one.log_bytes),
      'read models': bytesText(one.read_model_bytes),
      'while all are rebuilt': bytesText(one.rebuilding_bytes),
      replay: one.replay_seconds === null ? null : `${one.replay_seconds} s`,
    })),
  );
  console.log(
    rate === null
      ? '\nThe time of a replay is known after `projections rebuild --all`.'
      : `\nThe last replay of all read models took ${Math.round(rate)} events a second. Indexes that no longer fit into memory make larger ones slower.`,
  );
};

export const registerCapacityCommand = (program: Command): void => {
  program
    .command('capacity')
    .description('what log and read models need for a number of events, by what is measured here')
    .option('--events <count>', 'number of events; 1, 10 and 100 times those of the log when absent')
    .action(capacity);
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
    .argument('[names...]', 'names of projections')
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
