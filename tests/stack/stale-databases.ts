import { readdir, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf, endProcess, isRunning } from '#deploy/local/os/processes.ts';

/** Test folders carry the process id of the run that created them. */
export const STACK_FOLDER_PREFIX = 'test-stack-';
const PID_FILES = [join('postgres', 'cluster', 'postmaster.pid'), join('nats', 'nats.pid')];
const STOP_LIMIT_MS = 10_000;

/** The memory file system of Linux. A database is created there in a third of the time that it takes on a disk. */
const MEMORY_FOLDER = '/dev/shm';
/** Free bytes that the servers of a run may need. With fewer, a run keeps its data in the folder of temporary files. */
const MEMORY_FREE_BYTES_MIN = 8 * 1024 ** 3;

export const stackRoot = async (): Promise<string> => {
  const memory = await statfs(MEMORY_FOLDER).catch(() => null);
  return memory !== null && memory.bavail * memory.bsize >= MEMORY_FREE_BYTES_MIN ? MEMORY_FOLDER : tmpdir();
};

export const clearStaleStacks = async (): Promise<void> => {
  for (const root of new Set([tmpdir(), await stackRoot()])) {
    for (const name of await readdir(root)) {
      const maker = new RegExp(`^${STACK_FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
      if (maker === undefined || (await isRunning(Number(maker)))) continue;
      const folder = join(root, name);
      for (const file of PID_FILES) await stopServerOf(folder, join(folder, file));
      await rm(folder, { recursive: true, force: true });
    }
  }
};

const stopServerOf = async (folder: string, pidFile: string): Promise<void> => {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text.split('\n')[0] ?? '', 10);
  if (!Number.isInteger(pid) || pid <= 1) return;
  if ((await commandOf(pid)).includes(folder)) await endProcess(pid, STOP_LIMIT_MS);
};
