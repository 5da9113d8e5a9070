import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { endProcessBy, isRunning, isUsed, parentOf } from '../os/processes.ts';

const run = promisify(execFile);

/** Time limit for a server to close its connections and write its last checkpoint. */
export const FAST_STOP_MS = 20_000;
/** Time limit for a server to exit after an immediate shutdown. */
const IMMEDIATE_STOP_MS = 10_000;

/**
 * Prepares a cluster whose last server was not stopped in order. A server that still runs without the process that
 * started it is stopped. A `postmaster.pid` whose process id now belongs to another program is removed; other stale
 * files are left to PostgreSQL, which detects them. Throws when the server's starter is still running.
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

/** Stops a server: fast shutdown, then immediate shutdown, then SIGKILL, each after a time limit. */
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
