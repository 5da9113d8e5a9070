import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pause } from '#platform/clock.ts';

const run = promisify(execFile);

const POLL_MS = 20;
/** What the kernel takes at most to clear a killed process away. */
const KILL_LIMIT_MS = 5_000;

/** True while the process is there and has not ended; an ended one that nobody collected does not count. */
export const isRunning = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
};

/**
 * The command line of a process, its words joined by spaces; empty when there is none. A recorded process id
 * may belong to another program by now: whoever means to stop it first finds its own words in here.
 */
export const commandOf = async (pid: number): Promise<string> => {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (words !== null) return words.split('\0').join(' ').trim();
  // Without /proc, as on macOS.
  const answer = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return answer.stdout.trim();
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

/** Asks a process to end (SIGTERM), and kills it when it has not gone within `limitMs`. */
export const endProcess = async (pid: number, limitMs: number): Promise<void> => {
  for (const [signal, waitMs] of [
    ['SIGTERM', limitMs],
    ['SIGKILL', KILL_LIMIT_MS],
  ] as const) {
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
