import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandOf, isRunning } from './processes.ts';

const ATTEMPTS = 10;

export class FolderInUse extends Error {
  constructor(pid: number, folder: string) {
    super(
      `Another "npm start" (process ${pid}) runs on the data folder ${folder}. ` +
        'Stop it first, or set DATA_DIR to another folder.',
    );
    this.name = 'FolderInUse';
  }
}

/** Takes over a stale lock: its process has ended, or the id belongs to another program. */
export const lockFolder = async (folder: string, runFolder: string): Promise<AsyncDisposable> => {
  await mkdir(runFolder, { recursive: true });
  const file = join(runFolder, 'stack.pid');
  for (let attempt = 1; ; attempt += 1) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === ATTEMPTS) throw error;
    }
    const holder = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (Number.isInteger(holder) && holder !== process.pid && (await isStack(holder))) {
      throw new FolderInUse(holder, folder);
    }
    // Renamed before it is deleted: of two processes that find a stale lock, only one can rename it.
    const stale = `${file}.${process.pid}`;
    await rename(file, stale).catch(() => undefined);
    await rm(stale, { force: true });
  }
};

const isStack = async (pid: number): Promise<boolean> =>
  (await isRunning(pid)) && /deploy[\\/]local[\\/](main|reset)\.ts/.test(await commandOf(pid));
