import type { Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { listUnrecorded, recordAgain } from '#application/delivery-outbox/journal.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { isJson, printRecord, printTable } from '#platform/command-line.ts';
import {
  DeliveryIds,
  DeliveryQuery,
  LIST_MAX,
  cancelByIds,
  listDeliveries,
  replayByIds,
  replayFailed,
  requeueMissing,
  showDelivery,
} from '../../deliveries.ts';
import { Moment, readQuery } from '../../validate-query.ts';
import { type OpsDependencies, withOpsDependencies } from '../dependencies.ts';
import {
  WAITING_PAGE_MAX,
  WaitingQuery,
  listWaitingStreams,
  nextWaitingCursor,
} from '../../waiting-events.ts';

/** Maximum characters of a response body in the table. `--json` prints everything that is stored. */
const ANSWER_SHOWN_LENGTH = 120;

const printNotice = (text: string): void => console.error(text);

const parseIds = (input: readonly string[]): readonly string[] => {
  const ids = readQuery(z.strictObject({ id: DeliveryIds }), { id: [...input] }).id;
  return [...new Set(ids.map((id) => id.toLowerCase()))];
};

const list = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(DeliveryQuery, options);
  const rows = await withOpsDependencies(({ pool }) => listDeliveries(pool, query));
  const columns = ['queued_at', 'status', 'channel', 'kind', 'attempts', 'workspace_id', 'alert_id'];
  printTable(command, [...columns, 'delivery_id'], rows);
  const last = rows.at(-1);
  if (last && rows.length === query.limit && !isJson(command))
    printNotice(`More: --after ${last.delivery_id}`);
};

const show = async (id: string, _options: object, command: Command): Promise<void> => {
  const [deliveryId = ''] = parseIds([id]);
  const { payload, history, ...row } = await withOpsDependencies(({ pool }) =>
    showDelivery(pool, deliveryId),
  );
  if (isJson(command)) return console.log(JSON.stringify({ ...row, payload, history }));
  printRecord(command, row);
  console.log();
  const columns = [
    'at',
    'type',
    'attempt',
    'outcome',
    'failure',
    'status_code',
    'duration_ms',
    'reason',
    'answer',
  ];
  const shown = history.map((entry) => ({
    ...entry,
    answer: entry.answer?.slice(0, ANSWER_SHOWN_LENGTH) ?? '',
  }));
  printTable(command, columns, shown);
  console.log(`\n${JSON.stringify(payload, null, 2)}`);
};

/** Replays only the finished deliveries; the others are still being attempted. */
const replayThese = async (dependencies: OpsDependencies, ids: readonly string[]) => {
  const replayed = await replayByIds(dependencies, ids);
  return { replayed, still_under_way: ids.length - replayed };
};

const Replay = z.strictObject({ failedSince: Moment.optional(), missing: z.literal(true).optional() });

const replay = async (ids: readonly string[], options: object, command: Command): Promise<void> => {
  const { failedSince, missing } = readQuery(Replay, options);
  const selections = [ids.length > 0, failedSince !== undefined, missing === true].filter(Boolean).length;
  if (selections !== 1) {
    throw new Refusal(
      'invalid_input',
      'Specify exactly one of: delivery ids, --failed-since TIME, or --missing.',
    );
  }
  if (missing) {
    const queued = await withOpsDependencies((dependencies) =>
      requeueMissing(
        dependencies,
        (events) => printNotice(`${events} events read`),
        (done, total) => printNotice(`${done} of ${total} unfinished deliveries checked`),
      ),
    );
    return printRecord(command, { queued });
  }
  const outcome = await withOpsDependencies(async (dependencies) =>
    failedSince === undefined
      ? replayThese(dependencies, parseIds(ids))
      : replayFailed(dependencies, failedSince, (done) => printNotice(`${done} replayed`)),
  );
  printRecord(command, outcome);
};

const cancel = async (input: readonly string[], _options: object, command: Command): Promise<void> => {
  const ids = parseIds(input);
  const cancelled = await withOpsDependencies(({ pool }) => cancelByIds(pool, ids));
  printRecord(command, { cancelled, already_at_an_end: ids.length - cancelled });
};

const UNRECORDED_MAX = 500;
const Unrecorded = z.strictObject({ recordAgain: z.literal(true).optional() });

const unrecorded = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(Unrecorded, options);
  await withOpsDependencies(async ({ pool, eventStore }) => {
    await createDeliveryTables(pool);
    const found = await listUnrecorded(pool, UNRECORDED_MAX);
    if (!query.recordAgain) return printTable(command, ['at', 'type', 'delivery_id', 'seq', 'reason'], found);
    const recorded = await recordAgain(
      pool,
      eventStore,
      found.map(({ seq }) => seq),
    );
    printRecord(command, { recorded, of_deleted_deliveries: found.length - recorded });
  });
};

export const registerDeliveryCommands = (program: Command): void => {
  const deliveries = program.command('deliveries').description('inspect, replay and cancel alert deliveries');
  deliveries
    .command('list')
    .description('list deliveries, newest first')
    .option('--workspace <id>', 'workspace id')
    .option('--alert <id>', 'alert rule id')
    .option('--status <status>', 'queued, retrying, delivered, failed or cancelled')
    .option('--since <time>', 'earliest queue time (inclusive)')
    .option('--limit <number>', `maximum deliveries, up to ${LIST_MAX}`)
    .option('--after <id>', 'last delivery id of the previous page')
    .action(list);
  deliveries
    .command('show')
    .description('show one delivery with its attempts and payload')
    .argument('<delivery>', 'delivery id')
    .action(show);
  deliveries
    .command('replay')
    .description('start a new round of attempts, with the same payload and the same id')
    .argument('[deliveries...]', 'delivery ids')
    .option('--failed-since <time>', 'replay all deliveries that failed at or after this time')
    .option('--missing', 'queue deliveries that are unfinished in the log but missing from the tables')
    .action(replay);
  deliveries
    .command('cancel')
    .description('cancel deliveries that are not finished')
    .argument('<deliveries...>', 'delivery ids')
    .action(cancel);
  deliveries
    .command('unrecorded')
    .description('list events of deliveries that the event store refused, with the reason')
    .option('--record-again', 'try to record them again')
    .action(unrecorded);
};

const waiting = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(WaitingQuery, options);
  const streams = await withOpsDependencies(({ pool }) => listWaitingStreams(pool, query));
  printTable(command, ['stream', 'type', 'version', 'revision', 'position', 'waiting', 'since'], streams);
  const next = nextWaitingCursor(streams, query.limit);
  if (next !== null && !isJson(command)) console.error(`More: --after ${next}`);
};

export const registerAlertsCommands = (program: Command): void => {
  const alerts = program.command('alerts').description('inspect the matching of alert rules');
  alerts
    .command('waiting')
    .description(
      'list streams that wait for a newer release, each with the event that this release cannot read',
    )
    .option('--limit <number>', `maximum streams, up to ${WAITING_PAGE_MAX}`)
    .option('--after <stream>', 'last stream of the previous page')
    .action(waiting);
};
