import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { endProcessBy, isRunning, isUsed, parentOf } from '../os/processes.ts';

const run = promisify(execFile);

/** Time to close connections and write the last checkpoint. */
export const FAST_STOP_MS = 20_000;
const IMMEDIATE_STOP_MS = 10_000;

/**
 * Stops a server that outlived its starter, and removes a `postmaster.pid` of another program; PostgreSQL detects other
 * stale files. Throws when the starter still runs.
 */
export async function clearStaleServer(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = await readPid(pidFile);
  if (pid === null || !isUsed(pid)) return;
  if (!(await isPostgres(pid))) {
    await rm(pidFile, { force: true });
    return;
  }
  const starter = await parentOf(pid);
  if (starter !== null && starter > 1 && (await isNode(starter))) {
    throw new Error(
      `The database folder ${cluster} is in use by a running server (process ${pid}, started by process ` +
        `${starter}). Stop that one first, or use another folder.`,
    );
  }
  await stopServer(pid);
}

/** Fast shutdown, immediate shutdown, then SIGKILL, each after a limit. */
export const stopServer = (pid: number): Promise<void> =>
  // SIGINT: disconnect clients, checkpoint, exit. SIGQUIT: exit now and recover at the next start.
  endProcessBy(pid, [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ]);

async function readPid(pidFile: string): Promise<number | null> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text.split('\n')[0] ?? '', 10);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

async function isPostgres(pid: number): Promise<boolean> {
  return (await isRunning(pid)) && (await programOf(pid)).startsWith('postgres');
}

async function isNode(pid: number): Promise<boolean> {
  return /^(node|vitest)/.test(await programOf(pid));
}

async function programOf(pid: number): Promise<string> {
  try {
    return basename(await readlink(`/proc/${pid}/exe`));
  } catch {
    const answer = await run('ps', ['-o', 'comm=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
    return basename(answer.stdout.trim());
  }
}
