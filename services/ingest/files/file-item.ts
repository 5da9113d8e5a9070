import type { Observation } from '#contracts/observations/index.ts';
import type { RefusedRecord } from '../readers/record.ts';
import type { Source } from '../readers/parsing/open-source.ts';

/** Minimum bytes read between two progress items. */
const PROGRESS_BYTES = 1024 * 1024;

/** One item of the output of reading a file. */
export type FileItem =
  | { readonly kind: 'observation'; readonly observation: Observation }
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly line: number;
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

export const refusedItem = (
  path: string,
  plan: { header: string | null },
  record: RefusedRecord,
): FileItem => {
  const { line, what, advice, raw } = record;
  return { kind: 'refused', file: path, line, what, advice, raw, header: plan.header };
};

/** Yields a progress item per `PROGRESS_BYTES`. `before`: bytes read by an earlier pass over the same file. */
export class Progress {
  readonly #source: Source;
  readonly #before: number;
  #shown = 0;
  #records = 0;

  constructor(source: Source, before: number) {
    this.#source = source;
    this.#before = before;
  }

  *tick(records = 0): Generator<FileItem> {
    this.#records += records;
    if (this.#source.bytesRead() - this.#shown >= PROGRESS_BYTES) yield* this.end();
  }

  *end(): Generator<FileItem> {
    this.#shown = this.#source.bytesRead();
    const bytesRead = this.#before + this.#shown;
    yield {
      kind: 'progress',
      bytesRead,
      bytesTotal: 2 * this.#source.bytesTotal,
      records: this.#before === 0 ? 0 : this.#records,
    };
  }
}
