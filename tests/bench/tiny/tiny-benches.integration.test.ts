import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { STACK_FOLDER_PREFIX, stackRoot } from '#tests/stack/stale-databases.ts';
import { inheritedEnvironment, readSettings } from '#platform/settings.ts';
import { FIGURES } from '../figures.ts';

/** Runs benches with few rows, so that a renamed table, column or metric fails here. Does not check the values. */
const { TINY_BENCHES_ALL } = readSettings(z.object({ TINY_BENCHES_ALL: z.stringbool().default(false) }));

/** `live` uses the corpus that `reads` creates. */
const ALWAYS = [['reads', 'live']];
/** Benches of `npm run trials` only, because together they take some minutes. */
const IN_TRIALS = Object.keys(FIGURES)
  .filter((name) => !ALWAYS.flat().includes(name))
  .map((name) => [name]);
const SETTINGS = {
  BENCH_SCALE: '0.001',
  BENCH_ROUNDS: '1',
  /** Only the rows of `reads` without filters: one request per endpoint. */
  BENCH_READS: '  -$',
};
/** Under load the slowest takes a minute and a half. */
const LIMIT_MS = 600_000;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  // As root, PostgreSQL runs as another user, who needs access to this folder.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('benches of a tiny size', () => {
  const processes = TINY_BENCHES_ALL ? [...ALWAYS, ...IN_TRIALS] : ALWAYS;
  it.each(processes.map((names) => ({ names })))(
    '$names run to their end',
    { timeout: LIMIT_MS },
    async ({ names }) => {
      const child = spawn(process.execPath, ['tests/bench/main.ts', ...names], {
        env: { ...inheritedEnvironment(), ...SETTINGS, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => (output += data.toString()));
      try {
        const [code] = (await once(child, 'exit')) as [number | null];
        expect(code, output).toBe(0);
      } finally {
        // Also stops the servers of the bench when the test ends early.
        child.kill('SIGTERM');
      }
    },
  );
});
