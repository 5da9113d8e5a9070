import type { Observation } from '#contracts/observations/index.ts';
import type { Shortened } from '#contracts/observations/shorten-ad.ts';
import type { FormatName } from '../readers/formats.ts';
import { WHOLE_FILE_LINE } from '../readers/parsing/json-records.ts';
import { refusal, type RefusedRecord, type Remark } from '../readers/record.ts';
import type { Source } from '../readers/parsing/open-source.ts';

/** Minimum bytes read between two progress items. */
const PROGRESS_BYTES = 1024 * 1024;

export type FileItem =
  | { readonly kind: 'format'; readonly format: FormatName }
  | { readonly kind: 'observation'; readonly observation: Observation }
  | Remark
  /** By whose word the scans are complete, or why not. Absent for files of observations. */
  | { readonly kind: 'completeness'; readonly complete: boolean; readonly reason: string }
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
      readonly adId: string | null;
      /** From 1. `null` when the line, or the id of the ad, identifies the record. */
      readonly record: number | null;
      readonly what: string;
      readonly advice: string;
      /** Verbatim text. `null` when the refusal concerns the whole file. */
      readonly raw: string | null;
      /** CSV header for the rejects file. `null` for JSON. */
      readonly header: string | null;
    }
  /** Files of library scans are read twice; `bytesTotal` counts both passes. */
  | {
      readonly kind: 'progress';
      readonly bytesRead: number;
      readonly bytesTotal: number;
      readonly records: number;
    };

export type RefusedItem = FileItem & { readonly kind: 'refused' };

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

export type FileRefusal = { readonly what: string; readonly advice: string };

export const refusedFile = (path: string, { what, advice }: FileRefusal): RefusedItem =>
  refusedItem(path, { header: null }, refusal({ line: WHOLE_FILE_LINE, raw: null }, what, advice));

/** `pass`: the first of two passes yields no records. */
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

export const isShortened = ({ texts, urls, entries }: Readonly<Shortened>): boolean =>
  texts + urls + entries > 0;
