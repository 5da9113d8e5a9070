import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isRunning } from '#deploy/local/os/processes.ts';
import { inheritedEnvironment, LocalStack } from '#platform/settings.ts';
import { until } from '../stack/wait-until.ts';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../..');
const START_LIMIT_MS = 240_000;
const END_LIMIT_MS = 60_000;
const CURL_LIMIT_MS = 60_000;
/** Start of the last line that `npm start` prints. */
const READY = 'Ctrl-C stops everything in order';

/** An `npm start` with its own data folder and unused ports. */
export class StackProcess {
  readonly child: ChildProcess;
  readonly #folder: string;
  #output = '';

  constructor(folder: string, environment: Readonly<Record<string, string>> = {}) {
    this.#folder = folder;
    const ports = {
      API_PORT: '0',
      OPS_PORT: '0',
      MCP_PORT: '0',
      INTAKE_PORT: '0',
      EVENT_STORE_PORT: '0',
    };
    const demo = { DEMO_ADS: '120', DEMO_PULSE_SECONDS: '0' };
    this.child = spawn(process.execPath, [join(PROJECT, 'deploy', 'local', 'main.ts')], {
      cwd: PROJECT,
      env: { ...inheritedEnvironment(), ...ports, ...demo, DATA_DIR: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    }
  }

  get output(): string {
    return this.#output;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async waitUntilReady(): Promise<LocalStack> {
    await until('the stack is ready', START_LIMIT_MS, () => {
      if (this.hasEnded) throw new Error(`npm start ended:\n${this.#output}`);
      return this.#output.includes(READY);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.#output}`);
    });
    return LocalStack.parse(JSON.parse(await readFile(join(this.#folder, 'local.json'), 'utf8')));
  }

  async end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly ms: number }> {
    const startedMs = Date.now();
    this.child.kill(signal);
    await until('the stack ends', END_LIMIT_MS, () => this.hasEnded);
    return { code: this.child.exitCode, ms: Date.now() - startedMs };
  }

  /** Ids of all processes of this start, including its own. */
  processes(): number[] {
    const found = this.child.pid === undefined ? [] : [this.child.pid];
    const parents = parentsOfAll();
    for (const pid of found) {
      for (const [child, parent] of parents) if (parent === pid) found.push(child);
    }
    return found;
  }

  /** Kills all processes of this start. Some, such as sessions of Postgres, may have ended. */
  killAll(): readonly number[] {
    const found = this.processes();
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
    return found;
  }

  async runCurlLines(): Promise<readonly { readonly status: number; readonly body: string }[]> {
    const lines = this.#output.split('\n').filter((line) => line.startsWith('curl '));
    return Promise.all(
      lines.map(async (line) => {
        const { stdout } = await run('bash', ['-c', `${line} -w '\\n%{http_code}'`], {
          timeout: CURL_LIMIT_MS,
        });
        const at = stdout.lastIndexOf('\n');
        return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
      }),
    );
  }
}

export const allGone = async (pids: readonly number[]): Promise<boolean> =>
  (await Promise.all(pids.map(isRunning))).every((running) => !running);

const parentsOfAll = (): [number, number][] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [number, number][] => {
      try {
        const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        return [[Number(name), Number(parent)]];
      } catch {
        // The process ended during the scan.
        return [];
      }
    });
