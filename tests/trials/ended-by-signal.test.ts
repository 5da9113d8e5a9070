import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

const childrenOf = (pid: number): number[] => {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return pids === '' ? [] : pids.split(' ').map(Number);
  } catch {
    return [];
  }
};

const isRunning = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

test('SIGTERM to a trial ends its test process, and no other trial starts', async ({ skip }) => {
  skip(process.platform !== 'linux', 'the processes that a process started are read from /proc');
  const trial = spawn(
    process.execPath,
    ['tests/trials/main.ts', 'order', 'order', '--seed', '1', '--runs', '100'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output = Promise.all([text(trial.stdout), text(trial.stderr)]);
  const pid = trial.pid as number;
  const started: number[] = [];
  onTestFinished(() => {
    for (const one of [pid, ...started].filter(isRunning)) process.kill(one, 'SIGKILL');
  });

  // The test process has workers once it runs.
  await expect.poll(() => childrenOf(pid).flatMap(childrenOf).length).toBeGreaterThan(0);
  started.push(...childrenOf(pid), ...childrenOf(pid).flatMap(childrenOf));
  const ended = once(trial, 'exit');
  trial.kill('SIGTERM');

  expect(await ended).toEqual([2, null]);
  const [stdout, stderr] = await output;
  expect(stderr).toContain('order was ended by SIGTERM');
  expect(stdout.match(/^order: /gm)).toHaveLength(1);
  await expect.poll(() => started.filter(isRunning)).toEqual([]);
});
