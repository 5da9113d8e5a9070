import type { Command } from 'commander';
import { isJson, onOneLine, printRecord, printTable } from '#platform/command-line.ts';
import { readLogFile } from '#services/ops/log/file/read-log-file.ts';
import {
  type Comparison,
  compareLogs,
  type DifferingStream,
  NAMED_STREAMS,
  type Sum,
} from '#services/ops/log/transfer/compare-logs.ts';
import { readOn } from '#services/ops/log/transfer/read-on.ts';
import { type From, FROM, type To } from './copy.ts';
import { createReport, untilInterrupted } from './reports.ts';
import { isUrl, namedUrl, openSource } from './servers.ts';

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
