import { open, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stemOf } from './file-plan.ts';

const SAME_NAME_MAX = 10_000;

/** Appends `-2` and so on to an existing name. Overwrites no file. */
export const createFile = async (
  stem: string,
  extension: string,
): Promise<{ readonly path: string; readonly handle: FileHandle }> => {
  for (let round = 1; ; round += 1) {
    const path = `${stem}${round === 1 ? '' : `-${round}`}.${extension}`;
    try {
      return { path, handle: await open(path, 'wx') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || round >= SAME_NAME_MAX) throw error;
    }
  }
};

export type RejectedText = { readonly raw: string; readonly header: string | null };

/** Writes refused records in a form that their reader accepts, to fix and import again. */
export class RejectsFile implements AsyncDisposable {
  readonly #source: string;
  readonly #directory: string;
  #handle: FileHandle | null = null;
  path: string | null = null;

  constructor(source: string, directory: string) {
    this.#source = source;
    this.#directory = directory;
  }

  async write({ raw, header }: RejectedText): Promise<void> {
    const handle = this.#handle ?? (await this.#create(header));
    // Line ends in valid JSON are white space between tokens.
    await handle.write(`${header === null ? raw.replaceAll(/\s*\r?\n\s*/g, ' ') : raw}\n`);
  }

  async #create(header: string | null): Promise<FileHandle> {
    const stem = join(this.#directory, `${stemOf(this.#source)}.refused`);
    const { path, handle } = await createFile(stem, header === null ? 'jsonl' : extensionOf(this.#source));
    this.#handle = handle;
    this.path = path;
    if (header !== null) await handle.write(`${header}\n`);
    return handle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}

const extensionOf = (source: string): string => {
  const extension = /\.([A-Za-z0-9]{1,6})$/.exec(basename(source).replace(/\.gz$/i, ''))?.[1] ?? 'csv';
  return /^xls/i.test(extension) ? 'csv' : extension;
};
