import type { Command } from 'commander';
import { Refusal } from '#contracts/errors.ts';
import { printRecord } from '#platform/command-line.ts';
import { fileSource } from '#services/ops/log/file/file-source.ts';
import { checkLogFile } from '#services/ops/log/file/read-log-file.ts';
import { writeLogFile } from '#services/ops/log/file/write-log-file.ts';
import { copyLog, type CopyProgress } from '#services/ops/log/transfer/copy-log.ts';
import { serverSource } from '#services/ops/log/transfer/log-source.ts';
import { createReport, reportInterrupted, untilInterrupted } from './reports.ts';
import { namedUrl, openSource, openTarget } from './servers.ts';

export type From = { readonly from?: string };
export type To = { readonly to: string };

const onCopied = (what: string): ((progress: CopyProgress) => void) => {
  const report = createReport(what);
  return ({ copied, share }) => report(copied, share);
};

const finish = (command: Command, what: 'copy' | 'import', events: number, signal: AbortSignal): void => {
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
  const log = await openSource(sourceUrl);
  const target = await openTarget(targetUrl);
  const signal = untilInterrupted();
  const copied = await copyLog(serverSource(log, target), target, onCopied('copy'), signal);
  finish(command, 'copy', copied, signal);
};

const importFile = async (file: string, { to }: To, command: Command): Promise<void> => {
  const target = await openTarget(await namedUrl(to));
  const signal = untilInterrupted();
  const checking = createReport('check');
  const source = fileSource(file, (events) => checking(events, null));
  finish(command, 'import', await copyLog(source, target, onCopied('import'), signal), signal);
};

const exportFile = async (file: string, { from }: From, command: Command): Promise<void> => {
  const log = await openSource(await namedUrl(from));
  const signal = untilInterrupted();
  const report = createReport('export');
  let end = 0n;
  for await (const { position } of log.backwards(null)) {
    end = position;
    break;
  }
  const shareOf = (position: bigint): number | null =>
    end === 0n ? null : Math.min(1, Number(position) / Number(end));
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
