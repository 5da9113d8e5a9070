import type { Command } from 'commander';
import { z } from 'zod';
import { text } from 'node:stream/consumers';
import { Refusal } from '#contracts/errors.ts';
import { type Database, LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { isJson, onOneLine, printRecord, printTable } from '#platform/command-line.ts';
import {
  environmentWithLocalStack,
  readSettings,
  serverSettings,
  withoutCredentials,
} from '#platform/settings.ts';
import { type RawLog, openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { isAccessDenied, isConnectionFault, isDiscoveryFailure } from '#platform/event-store/errors.ts';
import { requireSupportedServer } from '#platform/event-store/server-version.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { checkLogFile, readLogFile, readOn, writeLogFile } from '../../log/file.ts';
import {
  type Comparison,
  type DifferingStream,
  type LogSource,
  NAMED_STREAMS,
  type Sum,
  compareLogs,
  copyLog,
  fileSource,
  serverSource,
  shareOfLog,
} from '../../log/transfer.ts';
import {
  FOUND_MAX,
  LogQuery,
  TailQuery,
  eventFields,
  findEvents,
  showEvent,
  tailLog,
} from '../../log/search.ts';
import { readQuery } from '../../validate-query.ts';
import { withOpsDependencies } from '../dependencies.ts';

/** Suffixes of the schemas of a projection: live, being built, replaced, replaced before that, and compared. */
const SUFFIXES = ['', '_next', '_old', '_dropped', '_verify'];
/** Schemas with log positions. `run` comes last: its mark stops processes from starting on a half-adopted log. */
const DERIVED = ['projector', 'ingest', 'access', 'alerting', 'run'];

const derivedSchemas = (): readonly string[] => [
  ...projections.flatMap(({ name }) => SUFFIXES.map((suffix) => name.replaceAll('-', '_') + suffix)),
  ...DERIVED,
];

const requireAlone = async (database: Database): Promise<void> => {
  const { rows } = await database.query<{ names: string[] }>(
    `select coalesce(array_agg(distinct coalesce(nullif(application_name, ''), 'unnamed')), '{}') as names
       from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
  const names = rows[0]?.names ?? [];
  if (names.length === 0) return;
  throw new Refusal(
    'changed_meanwhile',
    `Other processes are connected to this database (${names.join(', ')}). Stop all processes of the service first, and ` +
      'close other connections.',
  );
};

/** Drops everything computed from the old log, and returns the schemas. Throws while other processes are connected. */
export const adoptLog = async (database: Database): Promise<readonly string[]> => {
  await requireAlone(database);
  const wanted = derivedSchemas();
  const found = await database.query<{ nspname: string }>(
    'select nspname from pg_namespace where nspname = any($1)',
    [wanted],
  );
  const there = new Set(found.rows.map(({ nspname }) => nspname));
  const schemas = wanted.filter((schema) => there.has(schema));
  // A transaction over all statements would exceed the default number of locks.
  for (const schema of schemas) await database.query(`drop schema if exists "${schema}" cascade`);
  return schemas;
};

const { DATABASE_URL: databaseUrl } = serverSettings;

const adopt = async ({ yes = false }: { readonly yes?: boolean }, command: Command): Promise<void> => {
  if (!yes) {
    throw new Refusal(
      'invalid_input',
      'This drops all read models and positions in the database. They are computed again from the log of EVENT_STORE_URL. ' +
        'Confirm with --yes.',
    );
  }
  const { DATABASE_URL } = readSettings(
    z.object({ DATABASE_URL: databaseUrl, SERVERS_ALLOW_PLAIN_TEXT }),
    environmentWithLocalStack(),
  );
  const pool = openPool(DATABASE_URL, 1, { statement_timeout: LONG_STATEMENT_TIMEOUT_MS });
  try {
    printRecord(command, { dropped: await adoptLog(pool) });
  } finally {
    await pool.end();
  }
};

export const addAdoptCommand = (log: Command): void => {
  log
    .command('adopt')
    .description('drop what was computed from another log, so that it is computed from this one')
    .option('--yes', 'confirm')
    .action(adopt);
};

const PROGRESS_EVERY_MS = 2_000;

/** Exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130;

export const untilInterrupted = (): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  return ending.signal;
};

const duration = (seconds: number): string =>
  seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.ceil(seconds % 60)} s`;

/** Returns a function that prints progress. A resumed command starts above share 0; the estimate counts from there. */
export const createReport = (what: string): ((events: number, share: number | null) => void) => {
  const since = performance.now();
  let printedAt = since;
  let shareBefore: number | null = null;
  return (events, share) => {
    shareBefore ??= share;
    const now = performance.now();
    if (now - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = now;
    const seconds = (now - since) / 1_000;
    const done = (share ?? 0) - (shareBefore ?? 0);
    const left =
      share && done > 0
        ? `, ${Math.floor(share * 100)} %, ${duration((seconds * (1 - share)) / done)} left`
        : '';
    console.error(`${what}: ${events} events, ${Math.round(events / seconds)}/s${left}`);
  };
};

/** Says that an interrupted command can be repeated. */
export const reportInterrupted = (what: string): void => {
  console.error(`Stopped. The next ${what} continues from here.`);
  process.exitCode = INTERRUPTED;
};

/** Shared with the servers of the service, so that named servers are checked by the same rules. */

const { EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT } = serverSettings;

const ownUrl = (): string =>
  readSettings(z.object({ EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT }), environmentWithLocalStack())
    .EVENT_STORE_URL;

export const isUrl = (name: string): boolean => /^(esdb|kurrentdb)(\+discover)?:\/\//.test(name);

const requireUrl = (url: string): string => {
  if (!isUrl(url)) {
    throw new Refusal(
      'invalid_input',
      'An event store is named by its URL: esdb://user:password@host:2113?tls=true.',
    );
  }
  return readSettings(z.object({ EVENT_STORE_URL, SERVERS_ALLOW_PLAIN_TEXT }), {
    ...environmentWithLocalStack(),
    EVENT_STORE_URL: url,
  }).EVENT_STORE_URL;
};

/** Parses a server URL. `-` reads it from standard input, so that the process list shows no password. */
export const namedUrl = async (name: string | undefined): Promise<string> => {
  if (name === undefined) return ownUrl();
  return requireUrl(name === '-' ? (await text(process.stdin)).trim() : name);
};

const UNREACHABLE =
  'does not respond. Check host, port, tls and certificates of the URL, and whether it runs';
const REFUSED =
  'refuses this user. Copies read all streams, so the URL needs user and password of an administrator, and tls=true';
const describeFault = (error: unknown): string | null => {
  if (isAccessDenied(error)) return REFUSED;
  return isDiscoveryFailure(error) || isConnectionFault(error) ? UNREACHABLE : null;
};

/** Adds the server's name to errors that an operator can resolve. */
const naming = async <T>(url: string, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    const fault = describeFault(error);
    if (fault === null) throw error;
    throw new Refusal('invalid_input', `The event store ${withoutCredentials(url)} ${fault}.`);
  }
};

const requireReadable = async (log: RawLog): Promise<void> => {
  for await (const _ of log.backwards(null)) return;
};

/** Opens a log to read. The server may be older than the versions that the service supports. */
export const openSource = async (url: string): Promise<RawLog> => {
  const log = openRawLog(url);
  await naming(url, requireReadable(log));
  return log;
};

export const openTarget = async (url: string): Promise<RawLog> => {
  await naming(url, requireSupportedServer(url));
  return openSource(url);
};

export type From = { readonly from?: string };
export type To = { readonly to: string };

/** Copies a log into the event store at `to`, from where an earlier copy ended. */
const copyInto = async (
  command: Command,
  what: 'copy' | 'import',
  source: LogSource,
  to: string,
): Promise<void> => {
  const target = await openTarget(to);
  const signal = untilInterrupted();
  const report = createReport(what);
  const events = await copyLog(source, target, ({ copied, share }) => report(copied, share), signal);
  if (signal.aborted) reportInterrupted(what);
  printRecord(command, { [what === 'copy' ? 'copied' : 'imported']: events, complete: !signal.aborted });
};

const copy = async ({ from, to }: From & To, command: Command): Promise<void> => {
  const [sourceUrl, targetUrl] = [await namedUrl(from), await namedUrl(to)];
  if (sourceUrl === targetUrl) {
    throw new Refusal(
      'invalid_input',
      'The log would be copied onto itself: --to names the same event store.',
    );
  }
  await copyInto(command, 'copy', serverSource(await openSource(sourceUrl)), targetUrl);
};

const importFile = async (file: string, { to }: To, command: Command): Promise<void> => {
  const checking = createReport('check');
  const source = fileSource(file, (events) => checking(events, null));
  await copyInto(command, 'import', source, await namedUrl(to));
};

const exportFile = async (file: string, { from }: From, command: Command): Promise<void> => {
  const log = await openSource(await namedUrl(from));
  const signal = untilInterrupted();
  const report = createReport('export');
  const shareOf = await shareOfLog(log);
  const written = await writeLogFile(file, log, {
    onWritten: ({ position }, events) => report(events, shareOf(position)),
    signal,
  });
  if (!written) return reportInterrupted('export');
  printRecord(command, { file, ...written });
};

const check = async (file: string, _options: object, command: Command): Promise<void> => {
  const report = createReport('check');
  const events = await checkLogFile(file, (count) => report(count, null));
  printRecord(command, { file, events, whole: true });
};

export const FROM =
  'URL of the event store to read (default: EVENT_STORE_URL; - reads it from standard input)';

export const addCopyCommands = (log: Command): void => {
  log
    .command('copy')
    .description('copy every event to another event store, in order; repeated, it copies what is new')
    .requiredOption(
      '--to <url>',
      'URL of the target, which is empty or of an earlier copy (- reads it from standard input)',
    )
    .option('--from <url>', FROM)
    .action(copy);
  log
    .command('export')
    .description(
      'write the log into a compressed file with checksums; repeated, it continues an interrupted one',
    )
    .argument('<file>', 'such as log-2026-05-01.ndjson.gz')
    .option('--from <url>', FROM)
    .action(exportFile);
  log
    .command('import')
    .description('copy the events of a file into an event store; repeated, it continues')
    .argument('<file>', 'a file of `log export`')
    .requiredOption('--to <url>', 'URL of the target, which is empty or of an earlier import of this file')
    .action(importFile);
  log
    .command('check')
    .description('check that a file is whole')
    .argument('<file>', 'a file of `log export`')
    .action(check);
};

/** Exit code for logs that differ. */
const DIFFERENT = 1;

const eventsOf = async (name: string | undefined) =>
  name === undefined || name === '-' || isUrl(name)
    ? readOn(await openSource(await namedUrl(name)), null)
    : readLogFile(name);

const rowsOf = ({ from, to }: Comparison, key: 'byCategory' | 'byStream') => {
  const sums: readonly (ReadonlyMap<string, Sum> | null)[] = [from[key], to[key]];
  const names = new Set(sums.flatMap((one) => [...(one?.keys() ?? [])]));
  return [...names].toSorted().map((name) => {
    const [one, other] = sums.map((sum) => sum?.get(name));
    return {
      [key === 'byStream' ? 'stream' : 'category']: name,
      events: one?.events ?? 0,
      events_in_target: other?.events ?? 0,
      hash: one?.hash ?? '-',
      equal: one?.hash === other?.hash,
    };
  });
};

const describeStream = ({ stream, events, eventsInTarget }: DifferingStream): string =>
  `${stream} (from the first difference on: ${events} events in the first log, ${eventsInTarget} in the second)`;

const printDifferences = ({ difference, differing }: Comparison): void => {
  if (difference === null) return;
  console.error(onOneLine(`The logs differ. First difference: ${difference}.`));
  if (differing.length === 0) {
    console.error('Every stream has the same events in both logs; only the order between streams differs.');
  }
  for (const stream of differing) console.error(onOneLine(`  ${describeStream(stream)}`));
  if (differing.length === NAMED_STREAMS) console.error('  … there may be more.');
};

const compare = async (
  { from, to, byStream = false }: From & To & { readonly byStream?: boolean },
  command: Command,
): Promise<void> => {
  const report = createReport('compare');
  const comparison = await compareLogs(await eventsOf(from), await eventsOf(to), {
    isByStream: byStream,
    onCompared: (events) => report(events, null),
    signal: untilInterrupted(),
  });
  const rows = rowsOf(comparison, byStream ? 'byStream' : 'byCategory');
  const { isEqual, difference, differing, from: one, to: other } = comparison;
  const result = { equal: isEqual, events: one.events, events_in_target: other.events, hash: one.hash };
  if (isJson(command)) {
    const streams = differing.map(({ stream }) => stream);
    const all = { ...result, difference, differing: streams, [byStream ? 'streams' : 'categories']: rows };
    console.log(JSON.stringify(all));
  } else {
    printTable(command, Object.keys(rows[0] ?? {}), rows);
    printRecord(command, result);
    printDifferences(comparison);
  }
  if (!isEqual) process.exitCode = DIFFERENT;
};

export const addCompareCommand = (log: Command): void => {
  log
    .command('compare')
    .description('compare two logs event by event; names what differs and exits with 1')
    .requiredOption('--to <url or file>', 'URL of the other event store, or a file of `log export`')
    .option('--from <url or file>', FROM)
    .option('--by-stream', 'print counts and hashes of each stream instead of each category')
    .action(compare);
};

/** Progress interval of a search, in events read. */
const PROGRESS_EVERY_EVENTS = 50_000;

const Revision = z.strictObject({
  revision: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the revision of the event in its stream')
    .transform(BigInt)
    .optional(),
});

const print = (command: Command, event: RecordedEvent): void => {
  const { recorded_at, type, stream, revision, metadata } = eventFields(event);
  if (isJson(command)) return console.log(JSON.stringify(eventFields(event)));
  console.log(onOneLine([recorded_at, type, `${stream} ${revision}`, metadata.$correlationId].join('  ')));
};

const find = async (options: object, command: Command): Promise<void> => {
  const { limit, ...filter } = readQuery(LogQuery, options);
  const signal = untilInterrupted();
  let reported = 0;
  const reportProgress = (events: number): void => {
    if (events - reported < PROGRESS_EVERY_EVENTS) return;
    reported = events;
    console.error(`${events} events read`);
  };
  await withOpsDependencies(async ({ eventStore }) => {
    let found = 0;
    for await (const event of findEvents(eventStore, filter, signal, reportProgress)) {
      print(command, event);
      found += 1;
      if (found === limit) return console.error(`Stopped at the limit of ${limit}; there may be more.`);
    }
    if (found === 0) console.error('No events found.');
  });
};

const tail = async (options: object, command: Command): Promise<void> => {
  const filter = readQuery(TailQuery, options);
  const signal = untilInterrupted();
  await withOpsDependencies(async ({ eventStore }) => {
    for await (const event of tailLog(eventStore, filter, signal)) print(command, event);
  });
};

const show = async (stream: string, revisionText: string | undefined): Promise<void> => {
  const { revision } = readQuery(Revision, { revision: revisionText });
  const event = await withOpsDependencies(({ eventStore }) =>
    showEvent(eventStore, stream, revision ?? null),
  );
  console.log(JSON.stringify(eventFields(event), null, 2));
};

const withFilters = (command: Command): Command =>
  command
    .option('--stream <stream>', 'exact stream name, such as brand-…')
    .option('--category <category>', 'stream category, such as adLibrary')
    .option('--type <type>', 'event type, such as BrandTracked')
    .option('--correlation <id>', 'x-request-id of the request that caused the events');

export const registerLogCommands = (program: Command): void => {
  const log = program.command('log').description('read, copy, compare and back up the event log');
  withFilters(log.command('tail').description('print new events until Ctrl-C')).action(tail);
  withFilters(
    log.command('find').description('find events in log order; without --stream the whole log is read'),
  )
    .option('--since <time>', 'earliest time (inclusive)')
    .option('--until <time>', 'latest time (exclusive)')
    .option('--limit <number>', `maximum events, up to ${FOUND_MAX}`)
    .action(find);
  log
    .command('show')
    .description('print one event as JSON')
    .argument('<stream>', 'stream name')
    .argument('[revision]', 'revision in the stream (default: the last event)')
    .action(show);
  addCopyCommands(log);
  addCompareCommand(log);
  addAdoptCommand(log);
};
