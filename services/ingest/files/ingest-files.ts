import { Refusal } from '#contracts/errors.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import type { Intake } from '../intake-types.ts';
import type { FileItem } from './file-item.ts';
import type { ReadOptions } from './file-plan.ts';
import { createKeyedQueue } from '#platform/concurrency/keyed-queue.ts';
import { readFile } from './read-file.ts';
import { RejectsFile } from './rejects-file.ts';

/**
 * Maximum observations submitted at once, because each spends most of its time waiting for the event store.
 * Observations with the same key are submitted one after the other. Parts of scans are submitted alone, because they
 * depend on all earlier observations.
 */
const SUBMIT_CONCURRENCY = 8;

/** Totals of importing one file. */
export type FileTotals = {
  readonly file: string;
  records: number;
  ads: number;
  scans: number;
  /** Number of events appended. */
  events: number;
  refused: number;
  /** Sums of the scans' own totals. */
  readonly scanned: { [Name in (typeof SUMMED)[number]]: number };
  /** Path of the rejects file. `null` when no record was refused. */
  refusedFile: string | null;
};

/** Names of the scan totals that can be summed over scans. */
export const SUMMED = [
  'baseline',
  'news',
  'late',
  'stopped',
  'returned',
  'revised',
  'destination_changed',
] as const satisfies readonly (keyof ScanTotals)[];

export type Report = {
  progress(file: string, bytesRead: number, bytesTotal: number): void;
  /** Called with one line per refusal. */
  refused(line: string): void;
  finished(totals: FileTotals): void;
};

export type IngestOptions = ReadOptions & { readonly refusedDirectory: string };

/** Reads files one after the other and submits their observations. With `intake` `null` it is a dry run. */
export const ingestFiles = async (
  files: readonly string[],
  options: IngestOptions,
  intake: Intake | null,
  report: Report,
): Promise<readonly FileTotals[]> => {
  const all: FileTotals[] = [];
  for (const file of files) {
    const totals = await ingestFile(file, options, intake, report);
    report.finished(totals);
    all.push(totals);
  }
  return all;
};

const ingestFile = async (
  file: string,
  options: IngestOptions,
  intake: Intake | null,
  report: Report,
): Promise<FileTotals> => {
  const totals = emptyTotals(file);
  await using rejects = new RejectsFile(file, options.refusedDirectory);
  const refusedScans = new Set<string>();
  const submissions = createKeyedQueue(SUBMIT_CONCURRENCY);
  try {
    for await (const item of readFile(file, options)) {
      if (item.kind === 'progress') {
        totals.records = item.records;
        report.progress(file, item.bytesRead, item.bytesTotal);
      } else if (item.kind === 'refused') {
        await refuse(item, totals, rejects, report);
      } else {
        const { observation } = item;
        const work = (): Promise<void> => submit(observation, totals, refusedScans, intake, report);
        if ('scan_id' in observation) await submissions.end().then(work);
        else await submissions.add(keyOf(observation), work);
      }
    }
  } catch (error) {
    if (!isFileError(error)) throw error;
    totals.refused += 1;
    report.refused(`${file}:1: cannot be read (${error.code}); check the path and the permissions`);
  }
  await submissions.end();
  totals.refusedFile = rejects.path;
  return totals;
};

const refuse = async (
  item: FileItem & { kind: 'refused' },
  totals: FileTotals,
  rejects: RejectsFile,
  report: Report,
): Promise<void> => {
  totals.refused += 1;
  report.refused(`${item.file}:${item.line}: ${oneLine(item.what)}; ${oneLine(item.advice)}`);
  if (item.raw !== null) await rejects.write({ raw: item.raw, header: item.header });
};

const submit = async (
  observation: Observation,
  totals: FileTotals,
  refusedScans: Set<string>,
  intake: Intake | null,
  report: Report,
): Promise<void> => {
  const scanId = 'scan_id' in observation ? observation.scan_id : null;
  // Once a part of a scan is refused, skip its other parts and its end: a scan without its end is never recorded.
  if (scanId !== null && refusedScans.has(scanId)) return;
  try {
    const outcome = await intake?.submit(observation);
    if (observation.type === 'ad_library.scan') totals.ads += observation.ads.length;
    if (observation.type === 'ad_library.scan_end') totals.scans += 1;
    totals.events += outcome?.events ?? 0;
    for (const name of SUMMED) totals.scanned[name] += outcome?.totals?.[name] ?? 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (scanId !== null) refusedScans.add(scanId);
    totals.refused += 1;
    report.refused(`${totals.file}:1: ${observation.type} refused: ${oneLine(error.message)}`);
  }
};

const emptyTotals = (file: string): FileTotals => ({
  file,
  records: 0,
  ads: 0,
  scans: 0,
  events: 0,
  refused: 0,
  scanned: { baseline: 0, news: 0, late: 0, stopped: 0, returned: 0, revised: 0, destination_changed: 0 },
  refusedFile: null,
});

/** Codes of file system errors. Errors of sockets to the servers have other codes and stop the run. */
const FILE_ERRORS = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EIO']);

const isFileError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && FILE_ERRORS.has(String(error.code));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
