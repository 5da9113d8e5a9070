import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment } from '#platform/settings.ts';

/** A process of the service, started as in production: plain `node` on its `main.ts`. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A quiet machine takes a second or two. With twelve processes per core, a start has taken more than half a minute. */
const READY_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 12_000;

export type ServiceProcess = {
  readonly child: ChildProcess;
  output(): string;
  /** Throws when the process exits first or takes too long. */
  says(message: string): Promise<void>;
  kill(): Promise<void>;
  /** Sends SIGTERM and waits until it has exited. Returns the exit code. */
  stop(): Promise<number | null>;
};

export const startProcess = (
  main: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  logFile?: string,
): ServiceProcess => {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: ROOT,
    // Many tests at once make the machine slow. A slow answer must not count as missing, nor a late event loop as load.
    env: {
      ...inheritedEnvironment(),
      LOG_LEVEL: 'info',
      EVENT_STORE_ANSWER_MS: '8000',
      READ_ANSWER_MS: '8000',
      LOOP_DELAY_MS: '60000',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const wakes = new Set<() => void>();
  const take = (data: Buffer): void => {
    output += data.toString();
    if (logFile) appendFileSync(logFile, data);
    for (const wake of wakes) wake();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const gone = once(child, 'exit');
  child.once('exit', () => {
    for (const wake of wakes) wake();
  });

  return {
    child,
    output: () => output,
    says: async (message) => {
      const deadline = Date.now() + READY_LIMIT_MS;
      while (!output.includes(message)) {
        if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
          throw new Error(`${main} did not log "${message}". Its output:\n${output.slice(-4_000)}`);
        }
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            clearTimeout(timer);
            wakes.delete(wake);
            resolve();
          };
          const timer = setTimeout(wake, deadline - Date.now());
          wakes.add(wake);
        });
      }
    },
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(timer);
      return child.exitCode;
    },
  };
};
