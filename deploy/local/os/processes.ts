import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pause } from '#platform/clock.ts';

const run = promisify(execFile);

const POLL_MS = 20;
/** Time limit for the kernel to remove a killed process. */
const KILL_LIMIT_MS = 5_000;

/** Returns whether the process id is in use, also by a zombie or by a process of another user. */
export const isUsed = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Returns whether the process is running. A zombie counts as ended. In a container without an init process, an orphan
 * that has ended stays one.
 */
export const isRunning = async (pid: number): Promise<boolean> => {
  if (!isUsed(pid)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
};

/**
 * Returns the command line of a process, joined by spaces; empty when there is none. A recorded process id may
 * belong to another program by now, so a caller checks the command line before it stops the process.
 */
export const commandOf = async (pid: number): Promise<string> => {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (commandLine !== null) return commandLine.split('\0').join(' ').trim();
  // Systems without /proc, such as macOS.
  const output = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return output.stdout.trim();
};

export const parentOf = async (pid: number): Promise<number | null> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const text =
    status === null
      ? (await run('ps', ['-o', 'ppid=', '-p', String(pid)]).catch(() => ({ stdout: '' }))).stdout
      : /^PPid:\s*(\d+)/m.exec(status)?.[1];
  const parent = Number.parseInt(text ?? '', 10);
  return Number.isInteger(parent) ? parent : null;
};

/** A signal, and the time limit in ms for the process to end after it. */
export type EndStep = readonly [signal: NodeJS.Signals, limitMs: number];

/** Sends the signals in order, each when the process has not ended within the limit of the one before. */
export const endProcessBy = async (pid: number, steps: readonly EndStep[]): Promise<void> => {
  for (const [signal, waitMs] of steps) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw new Error(`Process ${pid} belongs to another user and cannot be stopped.`, { cause: error });
    }
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!(await isRunning(pid))) return;
      await pause(POLL_MS);
    }
  }
  throw new Error(`Process ${pid} could not be stopped.`);
};

/** Sends SIGTERM, and SIGKILL when the process has not ended within `limitMs`. */
export const endProcess = (pid: number, limitMs: number): Promise<void> =>
  endProcessBy(pid, [
    ['SIGTERM', limitMs],
    ['SIGKILL', KILL_LIMIT_MS],
  ]);
