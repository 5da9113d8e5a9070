import type { Command } from 'commander';
import { z } from 'zod';
import type { RecordedFact } from '#contracts/events/event.ts';
import {
  factFields,
  findFacts,
  FOUND_MAX,
  LogQuery,
  showFact,
  TailQuery,
  tailLog,
} from '#services/ops/log/search.ts';
import { isJson, onOneLine } from '../output.ts';
import { readQuery } from '#services/ops/validate-query.ts';
import { inOpsRoom } from '../dependencies.ts';

/** While nothing is found, it is said how far the reading is, every so many facts. */
const TOLD_EVERY_FACTS = 50_000;

const Revision = z.strictObject({
  revision: z
    .string()
    .regex(/^\d{1,15}$/, 'the number of the fact in its stream')
    .transform(BigInt)
    .optional(),
});

const print = (command: Command, fact: RecordedFact): void => {
  const { recorded_at, type, stream, revision, metadata } = factFields(fact);
  if (isJson(command)) return console.log(JSON.stringify(factFields(fact)));
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
  const tell = (facts: number): void => {
    if (facts - told < TOLD_EVERY_FACTS) return;
    told = facts;
    console.error(`${facts} facts looked at`);
  };
  await inOpsRoom(async ({ eventStore }) => {
    let found = 0;
    for await (const fact of findFacts(eventStore, filter, signal, tell)) {
      print(command, fact);
      found += 1;
      if (found === limit) return console.error(`The first ${limit}; there may be more.`);
    }
    if (found === 0) console.error('There is no such fact.');
  });
};

const tail = async (options: object, command: Command): Promise<void> => {
  const filter = readQuery(TailQuery, options);
  const signal = untilInterrupted();
  await inOpsRoom(async ({ eventStore }) => {
    for await (const fact of tailLog(eventStore, filter, signal)) print(command, fact);
  });
};

const show = async (stream: string, given: string | undefined): Promise<void> => {
  const { revision } = readQuery(Revision, { revision: given });
  const fact = await inOpsRoom(({ eventStore }) => showFact(eventStore, stream, revision ?? null));
  console.log(JSON.stringify(factFields(fact), null, 2));
};

const withFilters = (command: Command): Command =>
  command
    .option('--stream <stream>', 'facts of one stream, as brand-…')
    .option('--category <category>', 'facts of streams of this category, as adLibrary')
    .option('--type <type>', 'facts of this type, as BrandTracked')
    .option('--correlation <id>', 'facts of one request, by its x-request-id');

/** `ops log tail|find|show` */
export const registerLogCommands = (program: Command): void => {
  const log = program.command('log').description('the facts themselves');
  withFilters(log.command('tail').description('print facts as they are recorded, until Ctrl-C')).action(tail);
  withFilters(
    log
      .command('find')
      .description('facts in the order of the log; without --stream it is read from its beginning'),
  )
    .option('--since <time>', 'recorded at or after this time')
    .option('--until <time>', 'recorded before this time')
    .option('--limit <number>', `facts at most, up to ${FOUND_MAX}`)
    .action(find);
  log
    .command('show')
    .description('one fact whole, as JSON')
    .argument('<stream>', 'stream')
    .argument('[revision]', 'its number in the stream; the last, where left out')
    .action(show);
};
