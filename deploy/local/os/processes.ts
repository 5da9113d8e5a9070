import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pause } from '#platform/clock.ts';

const run = promisify(execFile);

const POLL_MS = 20;
const KILL_LIMIT_MS = 5_000;

/** Also true for a zombie or another user's process. */
export const isUsed = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** A zombie counts as ended: in a container without an init process an orphan stays one. */
export const isRunning = async (pid: number): Promise<boolean> => {
  if (!isUsed(pid)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
};

/** Empty without a process. Check it before a stop, because a recorded id may belong to another program by now. */
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

export type EndStep = readonly [signal: NodeJS.Signals, limitMs: number];

/** Sends each signal when the limit of the one before has passed. */
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

export const endProcess = (pid: number, limitMs: number): Promise<void> =>
  endProcessBy(pid, [
    ['SIGTERM', limitMs],
    ['SIGKILL', KILL_LIMIT_MS],
  ]);
