import { Refusal } from '#contracts/errors.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import type { Intake } from '../intake-types.ts';
import type { FileItem } from './file-item.ts';
import type { ReadOptions } from './file-plan.ts';
import { Lanes } from '#platform/concurrency/keyed-queue.ts';
import { readFile } from './read-file.ts';
import { RefusedFile } from './rejects-file.ts';

/**
 * Observations handed in at once, those about one thing one after the other: most of the time of each is spent
 * waiting for the log. Scans go alone, since their parts and what they look up depend on what came before.
 */
const HANDED_IN_AT_ONCE = 8;

/** What became of one file. */
export type FileTotals = {
  readonly file: string;
  records: number;
  ads: number;
  scans: number;
  facts: number;
  refused: number;
  /** Sums over the file's scans, of what each scan's own totals say. */
  readonly scanned: { [Name in (typeof SUMMED)[number]]: number };
  /** The file of refused records, where there are any. */
  refusedFile: string | null;
};

/** Totals of a scan that add up over scans. */
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
  /** One line for each refusal. */
  refused(line: string): void;
  finished(totals: FileTotals): void;
};

export type IngestOptions = ReadOptions & { readonly refusedDirectory: string };

/** Reads files one after the other and hands their observations in; `intake` is `null` for a dry run. */
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
  await using refusedFile = new RefusedFile(file, options.refusedDirectory);
  const refusedScans = new Set<string>();
  const lanes = new Lanes(HANDED_IN_AT_ONCE);
  try {
    for await (const item of readFile(file, options)) {
      if (item.kind === 'progress') {
        totals.records = item.records;
        report.progress(file, item.bytesRead, item.bytesTotal);
      } else if (item.kind === 'refused') {
        await refuse(item, totals, refusedFile, report);
      } else {
        const { observation } = item;
        const work = (): Promise<void> => handIn(observation, totals, refusedScans, intake, report);
        if ('scan_id' in observation) await lanes.end().then(work);
        else await lanes.add(keyOf(observation), work);
      }
    }
  } catch (error) {
    if (!isFileError(error)) throw error;
    totals.refused += 1;
    report.refused(`${file}:1: cannot be read (${error.code}); check the path and the permissions`);
  }
  await lanes.end();
  totals.refusedFile = refusedFile.path;
  return totals;
};

const refuse = async (
  item: FileItem & { kind: 'refused' },
  totals: FileTotals,
  refusedFile: RefusedFile,
  report: Report,
): Promise<void> => {
  totals.refused += 1;
  report.refused(`${item.file}:${item.line}: ${oneLine(item.what)}; ${oneLine(item.advice)}`);
  if (item.raw !== null) await refusedFile.write({ raw: item.raw, header: item.header });
};

const handIn = async (
  observation: Observation,
  totals: FileTotals,
  refusedScans: Set<string>,
  intake: Intake | null,
  report: Report,
): Promise<void> => {
  const scanId = 'scan_id' in observation ? observation.scan_id : null;
  // A scan of which a part was refused must not end: without its end nothing of it is decided.
  if (scanId !== null && refusedScans.has(scanId)) return;
  try {
    const outcome = await intake?.submit(observation);
    if (observation.type === 'ad_library.scan') totals.ads += observation.ads.length;
    if (observation.type === 'ad_library.scan_end') totals.scans += 1;
    totals.facts += outcome?.events ?? 0;
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
  facts: 0,
  refused: 0,
  scanned: { baseline: 0, news: 0, late: 0, stopped: 0, returned: 0, revised: 0, destination_changed: 0 },
  refusedFile: null,
});

/** Of the file system; sockets to the servers fail with others. */
const FILE_ERRORS = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EIO']);

const isFileError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && FILE_ERRORS.has(String(error.code));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
