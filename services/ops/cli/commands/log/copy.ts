import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { printRecord } from '#platform/command-line.ts';
import { checkLogFile } from '#services/ops/log/file/read-log-file.ts';
import { writeLogFile } from '#services/ops/log/file/write-log-file.ts';
import { copyLog } from '#services/ops/log/transfer/copy-log.ts';
import {
  fileSource,
  type LogSource,
  serverSource,
  shareOfLog,
} from '#services/ops/log/transfer/log-source.ts';
import { createReport, reportInterrupted, untilInterrupted } from './reports.ts';
import { namedUrl, openSource, openTarget } from './servers.ts';

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
