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
import { isJson, onOneLine } from '../output.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies } from '../dependencies.ts';

/** While nothing is found, it is said how far the reading is, every so many events. */
const TOLD_EVERY_EVENTS = 50_000;

const Revision = z.strictObject({
  revision: z
    .string()
    .regex(/^\d{1,15}$/, 'the number of the event in its stream')
    .transform(BigInt)
    .optional(),
});

const print = (command: Command, event: RecordedEvent): void => {
  const { recorded_at, type, stream, revision, metadata } = eventFields(event);
  if (isJson(command)) return console.log(JSON.stringify(eventFields(event)));
  console.log(onOneLine([recorded_at, type, `${stream} ${revision}`, metadata.$correlationId].join('  ')));
};

const untilInterrupted = (): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  return ending.signal;
};

const find = async (options: object, command: Command): Promise<void> => {
  const { limit, ...filter } = readQuery(LogQuery, options);
  const signal = untilInterrupted();
  let told = 0;
  const tell = (events: number): void => {
    if (events - told < TOLD_EVERY_EVENTS) return;
    told = events;
    console.error(`${events} events looked at`);
  };
  await withOpsDependencies(async ({ eventStore }) => {
    let found = 0;
    for await (const event of findEvents(eventStore, filter, signal, tell)) {
      print(command, event);
      found += 1;
      if (found === limit) return console.error(`The first ${limit}; there may be more.`);
    }
    if (found === 0) console.error('There is no such event.');
  });
};

const tail = async (options: object, command: Command): Promise<void> => {
  const filter = readQuery(TailQuery, options);
  const signal = untilInterrupted();
  await withOpsDependencies(async ({ eventStore }) => {
    for await (const event of tailLog(eventStore, filter, signal)) print(command, event);
  });
};

const show = async (stream: string, given: string | undefined): Promise<void> => {
  const { revision } = readQuery(Revision, { revision: given });
  const event = await withOpsDependencies(({ eventStore }) =>
    showEvent(eventStore, stream, revision ?? null),
  );
  console.log(JSON.stringify(eventFields(event), null, 2));
};

const withFilters = (command: Command): Command =>
  command
    .option('--stream <stream>', 'events of one stream, as brand-…')
    .option('--category <category>', 'events of streams of this category, as adLibrary')
    .option('--type <type>', 'events of this type, as BrandTracked')
    .option('--correlation <id>', 'events of one request, by its x-request-id');

/** `ops log tail|find|show` */
export const registerLogCommands = (program: Command): void => {
  const log = program.command('log').description('the events themselves');
  withFilters(log.command('tail').description('print events as they are recorded, until Ctrl-C')).action(
    tail,
  );
  withFilters(
    log
      .command('find')
      .description('events in the order of the log; without --stream it is read from its beginning'),
  )
    .option('--since <time>', 'recorded at or after this time')
    .option('--until <time>', 'recorded before this time')
    .option('--limit <number>', `events at most, up to ${FOUND_MAX}`)
    .action(find);
  log
    .command('show')
    .description('one event whole, as JSON')
    .argument('<stream>', 'stream')
    .argument('[revision]', 'its number in the stream; the last, where left out')
    .action(show);
};
