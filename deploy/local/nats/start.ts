import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { connect } from 'nats';
import { pause } from '#platform/clock.ts';
import { natsOptions } from '#platform/nats/connection-url.ts';
import { findNatsServer } from './binary.ts';
import { choosePort } from '../os/ports.ts';
import { preparePrivateFolder, PRIVATE_FILE_MODE, readOrCreatePassword } from '../os/private-files.ts';
import { commandOf, endProcess, isRunning, parentOf } from '../os/processes.ts';

/** After a crash the server first reads its streams, which takes longer the more messages they hold. */
const READY_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 1_000;
const POLL_MS = 25;
const STOP_LIMIT_MS = 5_000;
const START_ATTEMPTS = 5;
/** Upper limit, not reserved space. The server's default depends on the free disk space. */
const STORE_MAX_GIB = 32;
const LOG_TAIL_BYTES = 2_000;
const USER = 'service';

export type NatsOptions = {
  /** Created when missing. Holds the streams, the configuration, the password and the log. */
  readonly folder: string;
  /** 0, or a port that is taken, selects an unused one. */
  readonly port: number;
  readonly binary?: string;
  readonly cache?: string;
};

export type LocalNats = { readonly url: string; readonly port: number; stop(): Promise<void> };

/**
 * Listens on the loopback address; a used folder resumes. Clients need the password, because other users of the machine
 * reach the port too. Acknowledged messages survive `kill -9`, but a power cut may lose two minutes: only work items,
 * which are derived from the log or submitted again.
 */
export const startNats = async (options: NatsOptions): Promise<LocalNats> => {
  const folder = resolve(options.folder);
  await preparePrivateFolder(folder);
  const password = await readOrCreatePassword(join(folder, 'password'));
  await clearStaleNatsServer(folder);
  const binary = await findNatsServer(options.binary, options.cache ?? join('.cache', 'nats'));
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port);
    const server = await launch(binary, folder, port, password);
    try {
      await waitUntilReady(server, urlOf(port, password), folder);
      return describe(server.child, port, urlOf(port, password));
    } catch (error) {
      if (server.child.pid !== undefined) await endProcess(server.child.pid, STOP_LIMIT_MS);
      // Another process took the port between our check and the server's bind.
      if (attempt >= START_ATTEMPTS || !/address already in use/i.test(String(error))) throw error;
    }
  }
};

type Server = { readonly child: ChildProcess; readonly logStart: number };

/** The password has only characters that a URL may hold. */
const urlOf = (port: number, password: string): string => `nats://${USER}:${password}@127.0.0.1:${port}`;

const configurationFile = (folder: string): string => join(folder, 'nats.conf');
const pidFile = (folder: string): string => join(folder, 'nats.pid');
const logFile = (folder: string): string => join(folder, 'nats.log');

const launch = async (binary: string, folder: string, port: number, password: string): Promise<Server> => {
  const configuration = [
    `listen: "127.0.0.1:${port}"`,
    `authorization { user: "${USER}", password: "${password}" }`,
    `pid_file: ${JSON.stringify(pidFile(folder))}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(join(folder, 'store'))}`,
    `  max_file_store: ${STORE_MAX_GIB}GB`,
    '}',
  ];
  await writeFile(configurationFile(folder), `${configuration.join('\n')}\n`, { mode: PRIVATE_FILE_MODE });
  const log = await open(logFile(folder), 'a', PRIVATE_FILE_MODE);
  try {
    const logStart = (await log.stat()).size;
    const child = spawn(binary, ['--config', configurationFile(folder)], {
      cwd: folder,
      stdio: ['ignore', log.fd, log.fd],
      // In its own session, so that Ctrl-C in a terminal does not reach it: services stop first, servers last.
      detached: true,
    });
    return { child, logStart };
  } finally {
    await log.close();
  }
};

const waitUntilReady = async ({ child, logStart }: Server, url: string, folder: string): Promise<void> => {
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
    if (await answers(url)) return;
    await pause(POLL_MS);
  }
  throw new Error(`nats-server was not ready within ${READY_LIMIT_MS} ms; see ${logFile(folder)}.`);
};

const answers = async (url: string): Promise<boolean> => {
  try {
    const connection = await connect({ ...natsOptions(url), timeout: CONNECT_LIMIT_MS, reconnect: false });
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

const describe = (child: ChildProcess, port: number, url: string): LocalNats => {
  // When this process exits without an orderly stop, the server is still stopped.
  const stopAtExit = (): void => {
    child.kill('SIGTERM');
  };
  process.once('exit', stopAtExit);
  child.once('exit', () => process.off('exit', stopAtExit));
  child.unref();
  return {
    url,
    port,
    stop: async () => {
      process.off('exit', stopAtExit);
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      await endProcess(child.pid, STOP_LIMIT_MS);
    },
  };
};

/** Two servers on one folder would destroy the streams. Throws when the starter of the server is still running. */
export const clearStaleNatsServer = async (folder: string): Promise<void> => {
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
