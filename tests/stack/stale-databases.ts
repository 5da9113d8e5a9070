import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf, endProcess, isRunning } from '#deploy/local/os/processes.ts';

/** Test folders carry the process id of the run that created them. */
export const STACK_FOLDER_PREFIX = 'test-stack-';
const PID_FILES = [join('postgres', 'cluster', 'postmaster.pid'), join('nats', 'nats.pid')];
const STOP_LIMIT_MS = 10_000;

/** Stops servers of test runs that were killed, and removes their folders. */
export const clearStaleStacks = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const maker = new RegExp(`^${STACK_FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (maker === undefined || (await isRunning(Number(maker)))) continue;
    const folder = join(tmpdir(), name);
    for (const file of PID_FILES) await stopServerOf(folder, join(folder, file));
    await rm(folder, { recursive: true, force: true });
  }
};

const stopServerOf = async (folder: string, pidFile: string): Promise<void> => {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text.split('\n')[0] ?? '', 10);
  if (!Number.isInteger(pid) || pid <= 1) return;
  if ((await commandOf(pid)).includes(folder)) await endProcess(pid, STOP_LIMIT_MS);
};
