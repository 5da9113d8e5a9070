import type { Command } from 'commander';
import { z } from 'zod';
import type { RecordedEvent } from '#contracts/events/event.ts';
import {
  eventFields,
  findEvents,
  FOUND_MAX,
  LogQuery,
  showEvent,
  TailQuery,
  tailLog,
} from '#services/ops/log/search.ts';
import { isJson, onOneLine } from '#platform/command-line.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies } from '../../dependencies.ts';
import { addAdoptCommand } from './adopt.ts';
import { addCompareCommand } from './compare.ts';
import { addCopyCommands } from './copy.ts';
import { untilInterrupted } from './reports.ts';

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
