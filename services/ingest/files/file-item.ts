import type { Observation } from '#contracts/observations/index.ts';
import type { Shortened } from '#contracts/observations/shorten-ad.ts';
import type { FormatName } from '../readers/formats.ts';
import { WHOLE_FILE_LINE } from '../readers/parsing/json-records.ts';
import { refusal, type RefusedRecord, type Remark } from '../readers/record.ts';
import type { Source } from '../readers/parsing/open-source.ts';

/** Minimum bytes read between two progress items. */
const PROGRESS_BYTES = 1024 * 1024;

/** One item of the output of reading a file. */
export type FileItem =
  /** The format of the file. The first item of every file that can be read. */
  | { readonly kind: 'format'; readonly format: FormatName }
  | { readonly kind: 'observation'; readonly observation: Observation }
  | Remark
  /** Whether the scans of the file are complete, and by whose word, or why not. Absent for files of observations. */
  | { readonly kind: 'completeness'; readonly complete: boolean; readonly reason: string }
  /** An ad that was brought within its limits. It is part of a later observation. */
  | {
      readonly kind: 'shortened';
      readonly line: number;
      readonly adId: string;
      readonly shortened: Readonly<Shortened>;
    }
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly line: number;
      /** Id of the record's ad. `null` when unknown. */
      readonly adId: string | null;
      /** Number of the record in the file, from 1. `null` when the line, or the id of the ad, identifies it. */
      readonly record: number | null;
      readonly what: string;
      readonly advice: string;
      /** The record's text. `null` when the refusal concerns the whole file. */
      readonly raw: string | null;
      /** The CSV header that the rejects file needs above the record. `null` for JSON. */
      readonly header: string | null;
    }
  /** Reading progress. Files of library scans are read twice; `bytesTotal` counts both passes. */
  | {
      readonly kind: 'progress';
      readonly bytesRead: number;
      readonly bytesTotal: number;
      readonly records: number;
    };

export type RefusedItem = FileItem & { readonly kind: 'refused' };

/** Returns the item of a refused record. */
export const refusedItem = (
  path: string,
  plan: { header: string | null },
  { line, adId, number, what, advice, raw }: RefusedRecord,
): RefusedItem => ({
  kind: 'refused',
  file: path,
  line,
  adId,
  record: number ?? null,
  what,
  advice,
  raw,
  header: plan.header,
});

/** The reason why a file cannot be read. */
export type FileRefusal = { readonly what: string; readonly advice: string };

/** Returns the item of a file that is refused as a whole. */
export const refusedFile = (path: string, { what, advice }: FileRefusal): RefusedItem =>
  refusedItem(path, { header: null }, refusal({ line: WHOLE_FILE_LINE, raw: null }, what, advice));

/** Yields a progress item per `PROGRESS_BYTES`. `pass`: of a file that is read twice, the first one has no records. */
export class Progress {
  readonly #source: Source;
  readonly #pass: 1 | 2 | null;
  #shown = 0;
  #records = 0;

  constructor(source: Source, pass: 1 | 2 | null = null) {
    this.#source = source;
    this.#pass = pass;
  }

  *tick(records = 0): Generator<FileItem> {
    this.#records += records;
    if (this.#source.bytesRead() - this.#shown >= PROGRESS_BYTES) yield* this.end();
  }

  *end(): Generator<FileItem> {
    this.#shown = this.#source.bytesRead();
    const { bytesTotal } = this.#source;
    yield {
      kind: 'progress',
      bytesRead: (this.#pass === 2 ? bytesTotal : 0) + this.#shown,
      bytesTotal: (this.#pass === null ? 1 : 2) * bytesTotal,
      records: this.#records,
    };
  }
}

/** Returns true when shortening changed the ad. */
export const isShortened = ({ texts, urls, entries }: Readonly<Shortened>): boolean =>
  texts + urls + entries > 0;
