import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '#platform/clock.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { commandOf, endProcess, isRunning } from '../os/processes.ts';
import { CACHE, type Folders, PROJECT } from './settings.ts';

/** Doubles with each restart in a row. */
const RESTART_FIRST_MS = 250;
const RESTART_MAX_MS = 8_000;
/** A service is given up after `RESTARTS_MAX` restarts in a row; `STEADY_MS` of run time resets the count. */
const RESTARTS_MAX = 8;
const STEADY_MS = 60_000;
const LOG_MAX_BYTES = 16 * 1024 * 1024;
const LOG_TAIL_BYTES = 1_500;

export type ServiceDefinition = {
  readonly name: string;
  /** Relative to the project folder. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
};

export type Service = {
  readonly name: string;
  /** `null` while the service runs or will be restarted. */
  readonly failure: () => string | null;
  /** SIGTERM, then SIGKILL after the limit; no restart. */
  stop(limitMs: number): Promise<void>;
};

/** The command line holds this marker, which identifies the process behind a recorded id. */
const markOf = (folders: Folders): string => `data-folder=${folders.root}`;
const pidFileOf = (folders: Folders, name: string): string => join(folders.run, `${name}.pid`);

/** Logs to a file; restarts after an unexpected end. */
export const startService = async (
  definition: ServiceDefinition,
  folders: Folders,
  report: (message: string) => void,
): Promise<Service> => {
  const { name } = definition;
  const stopping = new AbortController();
  let failure: string | null = null;
  let child = await launch(definition, folders);

  const watch = async (): Promise<void> => {
    let restarts = 0;
    while (!stopping.signal.aborted) {
      const startedMs = Date.now();
      const ended = await endOf(child);
      if (stopping.signal.aborted) return;
      if (Date.now() - startedMs > STEADY_MS) restarts = 0;
      if (restarts >= RESTARTS_MAX) {
        failure = `${name} ended ${restarts + 1} times in a row (${ended}). From its log:\n${await tailOf(folders, name)}`;
        report(`${name} ended too often and stays down; see ${logFileOf(folders, name)}`);
        return;
      }
      report(`${name} ended (${ended}); restarting`);
      await pause(Math.min(RESTART_MAX_MS, RESTART_FIRST_MS * 2 ** restarts), stopping.signal);
      if (stopping.signal.aborted) return;
      restarts += 1;
      child = await launch(definition, folders);
    }
  };
  const watching = watch();

  return {
    name,
    failure: () => failure,
    stop: async (limitMs) => {
      stopping.abort();
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        await endProcess(child.pid, limitMs);
      }
      await watching;
      await rm(pidFileOf(folders, name), { force: true });
    },
  };
};

const launch = async (
  { name, entry, environment }: ServiceDefinition,
  folders: Folders,
): Promise<ChildProcess> => {
  await mkdir(folders.logs, { recursive: true });
  const file = logFileOf(folders, name);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_MAX_BYTES) await rename(file, `${file}.1`);
  const log = await open(file, 'a');
  try {
    const preload = new URL('./exit-with-parent.ts', import.meta.url).href;
    const child = spawn(process.execPath, ['--import', preload, join(PROJECT, entry), markOf(folders)], {
      cwd: PROJECT,
      env: { ...inheritedEnvironment(), NODE_COMPILE_CACHE: join(CACHE, 'node'), ...environment },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      // In its own session, so that Ctrl-C does not reach it directly: we stop the services once and in order.
      detached: true,
    });
    if (child.pid !== undefined) await writeFile(pidFileOf(folders, name), String(child.pid));
    return child;
  } finally {
    await log.close();
  }
};

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    const describe = (code: number | null, signal: string | null): string =>
      signal === null ? `exit code ${code}` : signal;
    if (child.exitCode !== null || child.signalCode !== null)
      resolve(describe(child.exitCode, child.signalCode));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(describe(code, signal)));
  });

export const logFileOf = (folders: Folders, name: string): string => join(folders.logs, `${name}.log`);

const tailOf = async (folders: Folders, name: string): Promise<string> =>
  (await readFile(logFileOf(folders, name), 'utf8').catch(() => '')).slice(-LOG_TAIL_BYTES);

/** Stops services that survived the process that started them. */
export const stopOrphans = async (folders: Folders, limitMs: number): Promise<void> => {
  const names = (await readdir(folders.run).catch(() => [])).filter((name) => name.endsWith('.pid'));
  await Promise.all(
    names.map(async (file) => {
      const pid = Number.parseInt(await readFile(join(folders.run, file), 'utf8').catch(() => ''), 10);
      if (!Number.isInteger(pid) || pid === process.pid || !(await isRunning(pid))) return;
      if ((await commandOf(pid)).includes(markOf(folders))) await endProcess(pid, limitMs);
    }),
  );
};
