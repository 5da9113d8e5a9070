import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR_MS } from '#contracts/values/time.ts';

/** Age in milliseconds from which a file has no owner. Downloading and measuring one takes less. */
const ABANDONED_MS = HOUR_MS;
/** Shared by the processes of a machine, each with files of its own. */
const FOLDER = join(tmpdir(), 'ad-intelligence-media');

/** Creates the folder of files that are being downloaded, and removes those of processes that were killed. */
export const openSpoolFolder = async (nowMs: number): Promise<void> => {
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
};

/** A path for a temporary file. Disposing removes the file. */
export const temporaryFile = (): AsyncDisposable & { readonly path: string } => {
  const path = join(FOLDER, randomUUID());
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
};
