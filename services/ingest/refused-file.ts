import { open, type FileHandle } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { stemOf } from './file-plan.ts';

/** A record as it stood in its source. */
export type RefusedText = { readonly raw: string; readonly header: string | null };

/**
 * Where what was refused of a file is written, in a shape its own reader takes: CSV under the source's
 * header, JSON a record a line. Mended, it is fed again with the same options. It appears with the first
 * record, and is never the file being read.
 */
export class RefusedFile implements AsyncDisposable {
  readonly #source: string;
  readonly #directory: string;
  #handle: FileHandle | null = null;
  path: string | null = null;

  constructor(source: string, directory: string) {
    this.#source = source;
    this.#directory = directory;
  }

  async write({ raw, header }: RefusedText): Promise<void> {
    if (this.#handle === null) {
      this.path = refusedPathOf(
        this.#source,
        this.#directory,
        header === null ? 'jsonl' : endingOf(this.#source),
      );
      this.#handle = await open(this.path, 'w');
      if (header !== null) await this.#handle.write(`${header}\n`);
    }
    // Between the lines of a JSON record there is white space only, unless it is broken.
    await this.#handle.write(`${header === null ? raw.replaceAll(/\s*\r?\n\s*/g, ' ') : raw}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}

const endingOf = (source: string): string =>
  /\.([A-Za-z0-9]{1,6})$/.exec(basename(source).replace(/\.gz$/i, ''))?.[1] ?? 'csv';

const refusedPathOf = (source: string, directory: string, ending: string): string => {
  for (let round = 1; ; round++) {
    const path = join(directory, `${stemOf(source)}.refused${round === 1 ? '' : `-${round}`}.${ending}`);
    if (resolve(path) !== resolve(source)) return path;
  }
};
