import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { eventFields } from '#services/ops/log/search.ts';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import {
  listParked,
  PARKED_PAGE_MAX,
  ParkedPageLimit,
  ParkedCursor,
  nextParkedCursor,
  retryParked,
  showParked,
  skipParked,
} from '#services/ops/projections/parked.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies } from '../dependencies.ts';

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
