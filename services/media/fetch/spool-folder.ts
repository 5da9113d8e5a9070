import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR_MS } from '#contracts/values/time.ts';

const ABANDONED_MS = HOUR_MS;
const FOLDER = join(tmpdir(), 'ad-intelligence-media');

/** Removes files that killed processes left. */
export const openSpoolFolder = async (nowMs: number): Promise<void> => {
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
};

export const temporaryFile = (): AsyncDisposable & { readonly path: string } => {
  const path = join(FOLDER, randomUUID());
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
};
