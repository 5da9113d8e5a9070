import { type Command } from 'commander';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import {
  cancelNamed,
  DeliveryIds,
  DeliveryQuery,
  listDeliveries,
  LIST_MAX,
  replayFailed,
  replayNamed,
  showDelivery,
} from '#services/ops/deliveries/operations.ts';
import { queueMissing } from '#services/ops/deliveries/requeue-missing.ts';
import { isJson, printRecord, printTable } from '../output.ts';
import { Moment, readQuery } from '#services/ops/validate-query.ts';
import { withOpsDependencies, type OpsDependencies } from '../dependencies.ts';

/** The beginning of what a receiver answered says what is wrong; all that is kept of it is in the JSON. */
const ANSWER_SHOWN_LENGTH = 120;

/** Beside the answer, so that what is piped on holds nothing else. */
const tell = (text: string): void => console.error(text);

const idsOf = (given: readonly string[]): readonly string[] => {
  const ids = readQuery(z.strictObject({ id: DeliveryIds }), { id: [...given] }).id;
  return [...new Set(ids.map((id) => id.toLowerCase()))];
};

const list = async (options: object, command: Command): Promise<void> => {
  const query = readQuery(DeliveryQuery, options);
  const rows = await withOpsDependencies(({ pool }) => listDeliveries(pool, query));
  const columns = ['queued_at', 'status', 'channel', 'kind', 'attempts', 'workspace_id', 'alert_id'];
  printTable(command, [...columns, 'delivery_id'], rows);
  const last = rows.at(-1);
  if (last && rows.length === query.limit && !isJson(command)) tell(`More: --after ${last.delivery_id}`);
};

const show = async (id: string, _options: object, command: Command): Promise<void> => {
  const [deliveryId = ''] = idsOf([id]);
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

/** Those that are not at an end are tried again anyway. */
const replayThese = async (dependencies: OpsDependencies, ids: readonly string[]) => {
  const replayed = await replayNamed(dependencies, ids);
  return { replayed, still_under_way: ids.length - replayed };
};

const Replay = z.strictObject({ failedSince: Moment.optional(), missing: z.literal(true).optional() });

const replay = async (given: readonly string[], options: object, command: Command): Promise<void> => {
  const { failedSince, missing } = readQuery(Replay, options);
  const asked = [given.length > 0, failedSince !== undefined, missing === true].filter(Boolean).length;
  if (asked !== 1) {
    throw new Refusal(
      'invalid_input',
      'Say what to replay, in one way: ids of deliveries, --failed-since TIME, or --missing.',
    );
  }
  if (missing) {
    const queued = await withOpsDependencies((dependencies) =>
      queueMissing(
        dependencies,
        (events) => tell(`${events} events read`),
        (done, total) => tell(`${done} of ${total} that are not at an end looked at`),
      ),
    );
    return printRecord(command, { queued });
  }
  const outcome = await withOpsDependencies(async (dependencies) =>
    failedSince === undefined
      ? replayThese(dependencies, idsOf(given))
      : replayFailed(dependencies, failedSince, (done) => tell(`${done} replayed`)),
  );
  printRecord(command, outcome);
};

const cancel = async (given: readonly string[], _options: object, command: Command): Promise<void> => {
  const ids = idsOf(given);
  const cancelled = await withOpsDependencies(({ pool }) => cancelNamed(pool, ids));
  printRecord(command, { cancelled, already_at_an_end: ids.length - cancelled });
};

/** `ops deliveries list|show|replay|cancel` */
export const registerDeliveryCommands = (program: Command): void => {
  const deliveries = program.command('deliveries').description('what alert rules sent, or are to send');
  deliveries
    .command('list')
    .description('list deliveries, newest first')
    .option('--workspace <id>', 'of this workspace')
    .option('--alert <id>', 'of this rule')
    .option('--status <status>', 'queued, retrying, delivered, failed or cancelled')
    .option('--since <time>', 'queued at or after this time')
    .option('--limit <number>', `deliveries at once, up to ${LIST_MAX}`)
    .option('--after <id>', 'where the page before ended')
    .action(list);
  deliveries
    .command('show')
    .description('show one delivery with its attempts and payload')
    .argument('<delivery>', 'delivery id')
    .action(show);
  deliveries
    .command('replay')
    .description('another round of attempts, over the same bytes and under the same id')
    .argument('[deliveries...]', 'delivery ids')
    .option('--failed-since <time>', 'all that were given up at or after this time')
    .option('--missing', 'all that the log has as queued and the tables do not have')
    .action(replay);
  deliveries
    .command('cancel')
    .description('send nothing more of these')
    .argument('<deliveries...>', 'delivery ids')
    .action(cancel);
};
