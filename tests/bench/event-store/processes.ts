import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '#deploy/local/os/ports.ts';
import { cpuTimes, type ProcessStat } from '../cpu-time.ts';

const CEILING = fileURLToPath(new URL('./ceiling.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../../deploy/local/event-store/main.ts', import.meta.url));

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** CPU time used so far by the server and the processes that work for it, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

export async function startCeiling(): Promise<ServerProcess> {
  const child = spawn(process.execPath, [CEILING], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await lineOf(child, /listening (\d+)/);
  return describe(child, Number(line[1]), () => cpuOf((stat) => stat.pid === child.pid));
}

/** Starts the event store. Its CPU time includes the processes of its PostgreSQL. */
export async function startStore(databaseUrl: string, postmasterPid: number): Promise<ServerProcess> {
  const port = await freePort();
  const env = { EVENT_STORE_PORT: String(port), EVENT_STORE_DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await lineOf(child, /event store listening/);
  return describe(child, port, () =>
    cpuOf((stat) => stat.pid === child.pid || stat.parent === postmasterPid),
  );
}

function describe(child: ChildProcess, port: number, cpuMs: () => Promise<number>): ServerProcess {
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    pid: child.pid ?? 0,
    cpuMs,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function lineOf(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`A server of the bench exited with code ${code}.`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      const found = pattern.exec(chunk.toString('utf8'));
      if (found !== null) resolve(found);
    });
  });
}

/** Returns 0 on systems without /proc, where only durations are reported. */
async function cpuOf(belongs: (stat: ProcessStat) => boolean): Promise<number> {
  return [...(await cpuTimes(belongs)).values()].reduce((sum, ms) => sum + ms, 0);
}
