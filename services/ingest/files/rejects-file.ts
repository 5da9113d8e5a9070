import { open, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stemOf } from './file-plan.ts';

/** Maximum rejects files of one name in one folder. */
const SAME_NAME_MAX = 10_000;

/** Creates `<stem>.<extension>`, or `<stem>-2.<extension>` and so on when that file exists. Overwrites no file. */
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

/** The verbatim text of a record, and the CSV header that it needs. */
export type RejectedText = { readonly raw: string; readonly header: string | null };

/**
 * Writes the refused records of a file in a form that its reader accepts: CSV under the source's header, JSON as one
 * record per line. A user can fix the records and import the file with the same options. The file is created with the
 * first record. It never overwrites a file: an existing one may be half fixed, or come from a source of the same name.
 */
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
    // Joins the lines of a JSON record. Line ends in valid JSON are white space between tokens.
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

/** Returns the extension for a file with a header. The rows of a spreadsheet are written as CSV. */
const extensionOf = (source: string): string => {
  const extension = /\.([A-Za-z0-9]{1,6})$/.exec(basename(source).replace(/\.gz$/i, ''))?.[1] ?? 'csv';
  return /^xls/i.test(extension) ? 'csv' : extension;
};
