import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { inheritedEnvironment } from '#platform/settings.ts';

/** A run of vitest that ended. */
export type VitestRun = {
  readonly exitCode: number;
  /** Signal that this process received during the run. */
  readonly signalled: 'SIGINT' | 'SIGTERM' | null;
};

/**
 * Runs vitest in a process of its own. SIGTERM to this process, and an abort of `limit`, end vitest with the servers of its
 * tests. Ctrl-C in a terminal reaches vitest directly.
 */
export const runVitest = async (
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  limit?: AbortSignal,
): Promise<VitestRun> => {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--config=tests/vitest.config.ts', ...words], {
    env: { ...inheritedEnvironment(), ...environment },
    stdio: 'inherit',
  });
  let signalled: VitestRun['signalled'] = null;
  const end = (): void => void child.kill('SIGTERM');
  // A second signal to vitest would interrupt the stop of its servers.
  const onInterrupt = (): void => {
    signalled = 'SIGINT';
  };
  const onTerminate = (): void => {
    signalled = 'SIGTERM';
    end();
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  limit?.addEventListener('abort', end, { once: true });
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
    return { exitCode, signalled };
  } finally {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
    limit?.removeEventListener('abort', end);
  }
};
