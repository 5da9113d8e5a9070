import { execFile } from 'node:child_process';
import { readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Time limit for a server to close its connections and write its last checkpoint. */
export const FAST_STOP_MS = 20_000;
/** Time limit for a server to exit after an immediate shutdown. */
const IMMEDIATE_STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Prepares a cluster whose last server was not stopped in order. A server that still runs without the process that
 * started it is stopped. A `postmaster.pid` whose process id now belongs to another program is removed; other stale
 * files are left to PostgreSQL, which detects them. Throws when the server's starter is still running.
 */
export async function clearStaleServer(cluster: string): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = await readPid(pidFile);
  if (pid === null || !isAlive(pid)) return;
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
export async function stopServer(pid: number): Promise<void> {
  // SIGINT: disconnect clients, checkpoint, exit. SIGQUIT: exit now and recover at the next start.
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ];
  for (const [signal, limitMs] of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw new Error(`The database server (process ${pid}) belongs to another user and cannot be stopped.`, {
        cause: error,
      });
    }
    if (await isGone(pid, limitMs)) return;
  }
  throw new Error(`The database server (process ${pid}) could not be stopped.`);
}

async function isGone(pid: number, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    if (!isAlive(pid) || (await isZombie(pid))) return true;
    await delay(POLL_MS);
  }
  return false;
}

async function readPid(pidFile: string): Promise<number | null> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text.split('\n')[0] ?? '', 10);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns whether the process is a zombie. In a container without an init process, an orphan that has ended stays
 * one.
 */
async function isZombie(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

async function isPostgres(pid: number): Promise<boolean> {
  return !(await isZombie(pid)) && (await programOf(pid)).startsWith('postgres');
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

async function parentOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const text =
    status === null
      ? (await run('ps', ['-o', 'ppid=', '-p', String(pid)]).catch(() => ({ stdout: '' }))).stdout
      : /^PPid:\s*(\d+)/m.exec(status)?.[1];
  const parent = Number.parseInt(text ?? '', 10);
  return Number.isInteger(parent) ? parent : null;
}
