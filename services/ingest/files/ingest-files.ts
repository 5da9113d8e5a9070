import { Refusal } from '#contracts/errors.ts';
import type { ScanTotals } from '#contracts/events/corpus/ad-library-values.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import type { Shortened } from '#contracts/observations/shorten-ad.ts';
import type { Intake } from '../intake-types.ts';
import { validateObservation } from '#application/observations/validate-observation.ts';
import type { FormatName } from '../readers/formats.ts';
import { FileContents } from './file-contents.ts';
import { type FileItem, refusedFile } from './file-item.ts';
import { FileNotes, nameOf, shortenedText } from './file-notes.ts';
import type { ReadOptions } from './file-plan.ts';
import { createKeyedQueue } from '#platform/concurrency/queues.ts';
import { readFile } from './read-file.ts';
import { RejectsFile } from './rejects-file.ts';

/** Submissions mostly wait for the event store. Those of one key, and parts of scans, are submitted in order. */
const SUBMIT_CONCURRENCY = 8;

export type FileTotals = {
  readonly file: string;
  /** `null` when the file cannot be read. */
  format: FormatName | null;
  records: number;
  ads: number;
  scans: number;
  events: number;
  refused: number;
  readonly scanned: { [Name in (typeof SUMMED)[number]]: number };
  readonly shortened: Shortened;
  readonly shortenedAds: NoteList;
  readonly notTaken: NoteList;
  readonly noted: NoteList;
  readonly leftOut: NoteList;
  readonly contents: FileContents;
  /** `null` when no record was refused, and in a dry run. */
  refusedFile: string | null;
};

export type NoteList = Pick<FileNotes, 'shown' | 'count' | 'path' | 'reasons'>;

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
  refused(line: string): void;
  finished(totals: FileTotals): void;
};

export type IngestOptions = ReadOptions & {
  /** A dry run writes only long lists here. `null`: no file is written. */
  readonly refusedDirectory: string | null;
};

/** With `intake` `null` (dry run), validates observations and records nothing. */
export const ingestFiles = async (
  files: readonly string[],
  options: IngestOptions,
  intake: Intake | null,
  report: Report,
): Promise<readonly FileTotals[]> => {
  const all: FileTotals[] = [];
  try {
    for (const file of files)
      report.finished(await ingestFile(file, options, intake ?? DRY_RUN, report, all));
  } catch (error) {
    throw new ImportStopped(error, all);
  }
  return all;
};

/** A server or the disk failed. `totals` has what was recorded. */
export class ImportStopped extends Error {
  readonly totals: readonly FileTotals[];

  constructor(cause: unknown, totals: readonly FileTotals[]) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'ImportStopped';
    this.totals = totals;
  }
}

const DRY_RUN: Intake = {
  async submit(observation) {
    validateObservation(observation);
    return { events: 0, totals: null };
  },
};

type Lists = { readonly [List in 'shortenedAds' | 'notTaken' | 'noted' | 'leftOut']: FileNotes };

type Run = {
  readonly intake: Intake;
  readonly report: Report;
  readonly totals: FileTotals;
  readonly lists: Lists;
  readonly rejects: RejectsFile | null;
  /** Ads submitted so far, by scan id. */
  readonly openScans: Map<string, number>;
  readonly refusedScans: Map<string, string>;
};

const ingestFile = async (
  file: string,
  options: IngestOptions,
  intake: Intake,
  report: Report,
  all: FileTotals[],
): Promise<FileTotals> => {
  const directory = options.refusedDirectory;
  await using rejects = directory === null || intake === DRY_RUN ? null : new RejectsFile(file, directory);
  await using notTaken = new FileNotes(file, 'not-taken', directory);
  await using shortenedAds = new FileNotes(file, 'shortened', directory);
  await using noted = new FileNotes(file, 'noted', directory);
  await using leftOut = new FileNotes(file, 'left-out', directory);
  const lists = { notTaken, shortenedAds, noted, leftOut };
  const totals = emptyTotals(file, lists);
  all.push(totals);
  const run: Run = {
    intake,
    report,
    totals,
    lists,
    rejects,
    openScans: new Map(),
    refusedScans: new Map(),
  };
  const submissions = createKeyedQueue(SUBMIT_CONCURRENCY);
  try {
    for await (const item of readFile(file, options)) {
      if (item.kind === 'observation') {
        const { observation } = item;
        totals.contents.add(observation);
        const work = (): Promise<void> => submit(run, observation);
        if ('scan_id' in observation) await submissions.end().then(work);
        else await submissions.add(keyOf(observation), work);
      } else {
        await note(run, item);
      }
    }
    await submissions.end();
    if (run.refusedScans.size > 0) await nameAdsOfRefusedScans(run, options);
    if (totals.contents.isEmpty() && totals.refused === 0) await note(run, refusedFile(file, NOTHING_READ));
  } catch (error) {
    if (!isFileError(error)) throw error;
    const what = `cannot be read (${error.code})`;
    await note(run, refusedFile(file, { what, advice: 'check the path and the permissions' }));
  } finally {
    totals.refusedFile = rejects?.path ?? null;
  }
  await submissions.end();
  return totals;
};

const NOTHING_READ = {
  what: 'has nothing to import: no ad, no other observation, and no page without ads that it covers completely',
  advice: 'export it again; if records were left out, the totals name the reasons',
} as const;

const note = async (
  { totals, report, rejects, lists }: Run,
  item: Exclude<FileItem, { kind: 'observation' }>,
): Promise<void> => {
  switch (item.kind) {
    case 'format':
      totals.format = item.format;
      return;
    case 'progress':
      totals.records = item.records;
      report.progress(totals.file, item.bytesRead, item.bytesTotal);
      return;
    case 'shortened': {
      const { texts, urls, entries } = item.shortened;
      totals.shortened.texts += texts;
      totals.shortened.urls += urls;
      totals.shortened.entries += entries;
      await lists.shortenedAds.add(
        `${totals.file}:${item.line}: ad ${item.adId}: ${shortenedText(item.shortened)}`,
      );
      return;
    }
    case 'completeness':
      totals.contents.verdict = item;
      return;
    case 'noted':
      await lists.noted.addReason(totals.file, item);
      return;
    case 'left_out':
      await lists.leftOut.addReason(totals.file, item);
      return;
    case 'refused': {
      const { file, line, raw, header } = item;
      const reason = `${oneLine(item.what)}; ${oneLine(item.advice)}`;
      totals.refused += 1;
      report.refused(`${file}:${line}: ${reason}`);
      await lists.notTaken.add(`${file}:${line}: ${nameOf(item)}${reason}`);
      if (raw !== null) await rejects?.write({ raw, header });
    }
  }
};

const submit = async (run: Run, observation: Observation): Promise<void> => {
  const { totals, openScans, refusedScans } = run;
  const scanId = 'scan_id' in observation ? observation.scan_id : null;
  // A scan without its end is never recorded, so a refused part ends the scan.
  if (scanId !== null && refusedScans.has(scanId)) return;
  try {
    const outcome = await run.intake.submit(observation);
    if (observation.type === 'ad_library.scan') {
      const { scan_id, ads } = observation;
      totals.ads += ads.length;
      openScans.set(scan_id, (openScans.get(scan_id) ?? 0) + ads.length);
    }
    if (observation.type === 'ad_library.scan_end') {
      totals.scans += 1;
      openScans.delete(observation.scan_id);
    }
    totals.events += outcome.events;
    for (const name of SUMMED) totals.scanned[name] += outcome.totals?.[name] ?? 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const reason = `${observation.type} refused: ${oneLine(error.message)}`;
    totals.refused += 1;
    run.report.refused(`${totals.file}:1: ${reason}`);
    if (scanId === null) {
      await run.lists.notTaken.add(`${totals.file}: ${keyOf(observation)}: ${reason}`);
      return;
    }
    refusedScans.set(scanId, reason);
    totals.ads -= openScans.get(scanId) ?? 0;
    openScans.delete(scanId);
  }
};

const nameAdsOfRefusedScans = async (
  { totals, lists: { notTaken }, refusedScans }: Run,
  options: ReadOptions,
): Promise<void> => {
  for await (const item of readFile(totals.file, options)) {
    if (item.kind !== 'observation' || !('scan_id' in item.observation)) continue;
    const { observation } = item;
    const reason = refusedScans.get(observation.scan_id);
    if (reason === undefined) continue;
    if (observation.type === 'ad_library.scan')
      for (const { ad_id } of observation.ads) await notTaken.add(`${totals.file}: ad ${ad_id}: ${reason}`);
    if (observation.type === 'ad_library.scan_end' && observation.chunks === 0)
      await notTaken.add(`${totals.file}: ${observation.brand_domain}: ${reason}`);
    if (observation.type === 'storefront.scan_end')
      await notTaken.add(`${totals.file}: ${observation.domain}: ${reason}`);
  }
};

const emptyTotals = (file: string, lists: Lists): FileTotals => ({
  ...lists,
  file,
  format: null,
  records: 0,
  ads: 0,
  scans: 0,
  events: 0,
  refused: 0,
  scanned: { baseline: 0, news: 0, late: 0, stopped: 0, returned: 0, revised: 0, destination_changed: 0 },
  shortened: { texts: 0, urls: 0, entries: 0 },
  contents: new FileContents(),
  refusedFile: null,
});

/** Socket errors of the servers have other codes and stop the run. */
const FILE_ERRORS = new Set(['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EIO']);

const isFileError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && FILE_ERRORS.has(String(error.code));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
