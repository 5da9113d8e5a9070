import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { stemOf } from './file-plan.ts';
import { createFile } from './rejects-file.ts';

/** Maximum lines of one list on the screen. */
const LINES_SHOWN_MAX = 20;

/**
 * A list of remarks about single ads of a file. The first lines are for the screen. A longer list is also written as a
 * whole to `<file>.<name>.txt`.
 */
export class FileNotes implements AsyncDisposable {
  readonly #stem: string | null;
  #handle: FileHandle | null = null;
  readonly shown: string[] = [];
  count = 0;
  /** Path of the file with all lines. `null` when all are shown, or nothing may be written. */
  path: string | null = null;

  /** `directory`: folder of the file with all lines. `null` when nothing may be written. */
  constructor(source: string, name: string, directory: string | null) {
    this.#stem = directory === null ? null : join(directory, `${stemOf(source)}.${name}`);
  }

  async add(line: string): Promise<void> {
    this.count += 1;
    if (this.count <= LINES_SHOWN_MAX) {
      this.shown.push(line);
      return;
    }
    if (this.#stem === null) return;
    if (this.#handle === null) {
      const { path, handle } = await createFile(this.#stem, 'txt');
      this.#handle = handle;
      this.path = path;
      await handle.write(`${this.shown.join('\n')}\n`);
    }
    await this.#handle.write(`${line}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }
}
