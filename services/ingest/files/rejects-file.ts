import { open, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stemOf } from './file-plan.ts';

/** Files of refused records of one name in one folder; whoever has so many mends none. */
const SAME_NAME_MAX = 10_000;

/** A record as it stood in its source. */
export type RefusedText = { readonly raw: string; readonly header: string | null };

/**
 * Where what was refused of a file is written, in a shape its own reader takes: CSV under the source's
 * header, JSON a record a line. Mended, it is fed again with the same options. It appears with the first
 * record, beside what is there already: that may be mended by half, or come from a file of the same name.
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
    const handle = this.#handle ?? (await this.#create(header));
    // Between the lines of a JSON record there is white space only, unless it is broken.
    await handle.write(`${header === null ? raw.replaceAll(/\s*\r?\n\s*/g, ' ') : raw}\n`);
  }

  async #create(header: string | null): Promise<FileHandle> {
    const stem = join(this.#directory, `${stemOf(this.#source)}.refused`);
    const ending = header === null ? 'jsonl' : endingOf(this.#source);
    for (let round = 1; ; round += 1) {
      const path = `${stem}${round === 1 ? '' : `-${round}`}.${ending}`;
      try {
        const handle = await open(path, 'wx');
        this.#handle = handle;
        this.path = path;
        if (header !== null) await handle.write(`${header}\n`);
        return handle;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || round >= SAME_NAME_MAX) throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}

const endingOf = (source: string): string =>
  /\.([A-Za-z0-9]{1,6})$/.exec(basename(source).replace(/\.gz$/i, ''))?.[1] ?? 'csv';
