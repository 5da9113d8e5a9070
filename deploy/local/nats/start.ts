import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { connect } from 'nats';
import { pause } from '#platform/clock.ts';
import { findNatsServer } from './binary.ts';
import { choosePort } from '../os/ports.ts';
import { commandOf, endProcess, isRunning, parentOf } from '../os/processes.ts';

/** After a crash the server first reads its streams in, which grows with what waits in them. */
const READY_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 1_000;
const POLL_MS = 25;
const STOP_LIMIT_MS = 5_000;
const START_ATTEMPTS = 5;
/** A ceiling that all streams reserve from, not space taken. By default the server derives it from the free disk. */
const STORE_MAX_GIB = 32;
const LOG_TAIL_BYTES = 2_000;

export type NatsOptions = {
  /** Ours alone; made when missing. Holds the streams, the configuration and the log. */
  readonly folder: string;
  /** 0, or a port that is taken, means: pick a free one. */
  readonly port: number;
  /** A `nats-server` to use instead of looking for one. */
  readonly binary?: string;
  /** Where a fetched `nats-server` is kept for the next time. */
  readonly cache?: string;
};

export type LocalNats = {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
};

/**
 * Starts a NATS server with JetStream on the loopback address. A folder that was used before resumes with
 * everything in it.
 *
 * What holds: a publish is acknowledged once the message has been handed to the operating system, so whatever was
 * acknowledged survives `kill -9` of the server. It is forced to the disk every two minutes, the server's
 * default: after a power cut the last two minutes of the queue may be gone. The queue carries work and never
 * truth, so that is derived from the log, or handed in, again.
 */
export const startNats = async (options: NatsOptions): Promise<LocalNats> => {
  const folder = resolve(options.folder);
  await mkdir(folder, { recursive: true });
  await clearNatsLeftover(folder);
  const binary = await findNatsServer(options.binary, options.cache ?? join('.cache', 'nats'));
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port);
    const server = await launch(binary, folder, port);
    try {
      await waitUntilReady(server, port, folder);
      return describe(server.child, port);
    } catch (error) {
      if (server.child.pid !== undefined) await endProcess(server.child.pid, STOP_LIMIT_MS);
      // Another process took the port between our look and the server's bind.
      if (attempt >= START_ATTEMPTS || !/address already in use/i.test(String(error))) throw error;
    }
  }
};

type Server = { readonly child: ChildProcess; readonly logStart: number };

const configurationFile = (folder: string): string => join(folder, 'nats.conf');
const pidFile = (folder: string): string => join(folder, 'nats.pid');
const logFile = (folder: string): string => join(folder, 'nats.log');

const launch = async (binary: string, folder: string, port: number): Promise<Server> => {
  const configuration = [
    `listen: "127.0.0.1:${port}"`,
    `pid_file: ${JSON.stringify(pidFile(folder))}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(join(folder, 'store'))}`,
    `  max_file_store: ${STORE_MAX_GIB}GB`,
    '}',
  ];
  await writeFile(configurationFile(folder), `${configuration.join('\n')}\n`);
  const log = await open(logFile(folder), 'a');
  try {
    const logStart = (await log.stat()).size;
    const child = spawn(binary, ['--config', configurationFile(folder)], {
      cwd: folder,
      stdio: ['ignore', log.fd, log.fd],
      // In a session of its own: Ctrl-C in a terminal reaches the services first and the servers last.
      detached: true,
    });
    return { child, logStart };
  } finally {
    await log.close();
  }
};

const waitUntilReady = async ({ child, logStart }: Server, port: number, folder: string): Promise<void> => {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline) {
    if (failure !== undefined) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) {
      const written = (await readFile(logFile(folder)))
        .subarray(logStart)
        .toString('utf8')
        .slice(-LOG_TAIL_BYTES);
      throw new Error(`nats-server did not start. From ${logFile(folder)}:\n${written}`);
    }
    if (await answers(port)) return;
    await pause(POLL_MS);
  }
  throw new Error(`nats-server was not ready within ${READY_LIMIT_MS} ms; see ${logFile(folder)}.`);
};

const answers = async (port: number): Promise<boolean> => {
  try {
    const connection = await connect({
      servers: `127.0.0.1:${port}`,
      timeout: CONNECT_LIMIT_MS,
      reconnect: false,
    });
    try {
      await (await connection.jetstreamManager({ timeout: CONNECT_LIMIT_MS })).getAccountInfo();
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
};

const describe = (child: ChildProcess, port: number): LocalNats => {
  // A process that leaves without stopping in order still takes its server with it.
  const stopAtExit = (): void => {
    child.kill('SIGTERM');
  };
  process.once('exit', stopAtExit);
  child.once('exit', () => process.off('exit', stopAtExit));
  child.unref();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    stop: async () => {
      process.off('exit', stopAtExit);
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      await endProcess(child.pid, STOP_LIMIT_MS);
    },
  };
};

/**
 * Stops a server that outlived whoever started it: two servers on one folder would destroy the streams. One
 * whose starter lives is in use and not ours to stop.
 */
export const clearNatsLeftover = async (folder: string): Promise<void> => {
  const pid = Number.parseInt(await readFile(pidFile(folder), 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid) || pid <= 1 || !(await isRunning(pid))) return;
  if (!(await commandOf(pid)).includes(configurationFile(folder))) return;
  const starter = await parentOf(pid);
  if (starter !== null && starter > 1 && (await isNode(starter))) {
    throw new Error(
      `The NATS folder ${folder} is in use by a running server (process ${pid}, started by process ${starter}). ` +
        'Stop that one first, or use another folder.',
    );
  }
  await endProcess(pid, STOP_LIMIT_MS);
};

const isNode = async (pid: number): Promise<boolean> =>
  /^(node|vitest)/.test(basename((await commandOf(pid)).split(' ')[0] ?? ''));
