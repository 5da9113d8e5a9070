import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { choosePort } from '../os/ports.ts';
import { preparePrivateFolder, PRIVATE_FILE_MODE, readOrCreatePassword } from '../os/private-files.ts';
import { type Account, assertReachable, findOrCreateAccount } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { clearStaleServer, stopServer } from './stale-server.ts';
import { CLUSTER_ARGUMENTS, settingArguments } from './settings.ts';

const run = promisify(execFile);

/** Crash recovery replays up to `max_wal_size`, which takes a while on a slow disk. */
const READY_LIMIT_MS = 60_000;
const INITDB_LIMIT_MS = 60_000;
const CONNECT_LIMIT_MS = 5_000;
const POLL_MS = 25;
const MAX_START_ATTEMPTS = 20;
const ATTEMPT_PAUSE_MS = 500;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const LOG_TAIL_BYTES = 2_000;
/** The caller's PG* variables and locale must not reach the server. */
const SERVER_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export interface PostgresOptions {
  /** Created when missing. Holds the cluster, the password and the log. */
  readonly folder: string;
  /** 0, or a port that is taken, selects an unused one. */
  readonly port: number;
  readonly settings?: Record<string, string>;
}

export interface LocalPostgres {
  readonly url: string;
  readonly port: number;
  databaseUrl(name: string): string;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

interface Server {
  readonly process: ChildProcess;
  /** Earlier starts have written to the file too. */
  readonly logStart: number;
}

interface Site {
  readonly folder: string;
  readonly cluster: string;
  readonly logFile: string;
  readonly account: Account | null;
  readonly binaries: Binaries;
  readonly password: string;
}

/** Listens on the loopback address. A used folder resumes with its data, also after a crash. */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const site = await prepareSite(resolve(options.folder));
  await clearStaleServer(site.cluster);
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port);
    const server = await spawnServer(site, port, options.settings ?? {});
    try {
      await waitUntilReady(site, server, port);
      return describeServer(site, server, port);
    } catch (error) {
      await endServer(server);
      if (!isTransient(error) || attempt === MAX_START_ATTEMPTS) throw error;
      await delay(ATTEMPT_PAUSE_MS);
    }
  }
}

/** True when another process took the port between check and bind, or sessions of a killed server are still ending. */
function isTransient(error: unknown): boolean {
  return /Address already in use|pre-existing shared memory block/.test(String(error));
}

async function prepareSite(folder: string): Promise<Site> {
  const [account, binaries] = await Promise.all([findOrCreateAccount(), findBinaries()]);
  await preparePrivateFolder(folder);
  const site = {
    folder,
    cluster: join(folder, 'cluster'),
    logFile: join(folder, 'postgres.log'),
    account,
    binaries,
  };
  await assertReachable(folder, account, 'the data folder');
  await assertReachable(binaries.postgres, account, 'the PostgreSQL binaries');
  // Root enters every folder, so only the account of the server needs to own this one.
  if (account !== null) await chown(folder, account.uid, account.gid);
  const password = await readOrCreatePassword(join(folder, 'password'));
  await createCluster({ ...site, password });
  return { ...site, password };
}

/** Renames a draft folder, so that a kill leaves no incomplete cluster. */
async function createCluster(site: Site): Promise<void> {
  if (await exists(join(site.cluster, 'PG_VERSION'))) return;
  const draft = join(site.folder, 'cluster.new');
  const passwordFile = join(site.folder, 'password.initdb');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, site.password, { mode: 0o600 });
  try {
    if (site.account !== null) {
      await chown(draft, site.account.uid, site.account.gid);
      await chown(passwordFile, site.account.uid, site.account.gid);
    }
    const clusterArguments = [...CLUSTER_ARGUMENTS, `--pgdata=${draft}`, `--pwfile=${passwordFile}`];
    await run(site.binaries.initdb, clusterArguments, { ...spawnAs(site), timeout: INITDB_LIMIT_MS });
    await rename(draft, site.cluster);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

function spawnAs(site: Site) {
  const identity = site.account === null ? {} : { uid: site.account.uid, gid: site.account.gid };
  return { cwd: site.folder, env: SERVER_ENVIRONMENT, ...identity };
}

async function spawnServer(site: Site, port: number, settings: Record<string, string>): Promise<Server> {
  const size = await stat(site.logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(site.logFile, `${site.logFile}.1`);
  const log = await open(site.logFile, 'a', PRIVATE_FILE_MODE);
  try {
    const serverArguments = ['-D', site.cluster, '-p', String(port), ...settingArguments(settings)];
    const logStart = (await log.stat()).size;
    const child = spawn(site.binaries.postgres, serverArguments, {
      ...spawnAs(site),
      stdio: ['ignore', log.fd, log.fd],
      // In its own session, so that Ctrl-C in a terminal does not reach it: services stop first, the database last.
      detached: true,
    });
    return { process: child, logStart };
  } finally {
    await log.close();
  }
}

async function waitUntilReady(site: Site, server: Server, port: number): Promise<void> {
  let failure: Error | undefined;
  server.process.once('error', (error) => {
    failure = error;
  });
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline) {
    if (failure !== undefined) throw failure;
    if (hasEnded(server)) {
      throw new Error(
        `PostgreSQL did not start. From ${site.logFile}:\n${await readLog(site.logFile, server.logStart)}`,
      );
    }
    if (await answers(connectionString(site, port, 'postgres'))) return;
    await delay(POLL_MS);
  }
  throw new Error(`PostgreSQL was not ready within ${READY_LIMIT_MS} ms; see ${site.logFile}.`);
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    // Connection refused or recovery in progress: retry. A wrong password is final, and a retry would hide it.
    if ((error as { code?: string }).code === '28P01') throw error;
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function describeServer(site: Site, server: Server, port: number): LocalPostgres {
  // When this process exits without an orderly stop, the server is still stopped.
  const stopAtExit = () => server.process.kill('SIGINT');
  process.once('exit', stopAtExit);
  server.process.once('exit', () => process.off('exit', stopAtExit));
  server.process.unref();
  return {
    url: connectionString(site, port, 'postgres'),
    port,
    databaseUrl: (name) => connectionString(site, port, name),
    createDatabase: (name) => createDatabase(connectionString(site, port, 'postgres'), name),
    stop: async () => {
      process.off('exit', stopAtExit);
      await endServer(server);
    },
  };
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_LIMIT_MS });
  await client.connect();
  try {
    await client.query(`create database ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // 42P04: the database exists. 23505: another process creates it at the same time. Both are fine.
    const code = (error as { code?: string }).code;
    if (code !== '42P04' && code !== '23505') throw error;
  } finally {
    await client.end();
  }
}

async function endServer(server: Server): Promise<void> {
  if (server.process.pid === undefined || hasEnded(server)) return;
  await stopServer(server.process.pid);
}

function connectionString(site: Site, port: number, database: string): string {
  return `postgres://postgres:${site.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

function hasEnded(server: Server): boolean {
  return server.process.exitCode !== null || server.process.signalCode !== null;
}

async function readLog(file: string, start: number): Promise<string> {
  const bytes = await readFile(file).catch(() => Buffer.alloc(0));
  return bytes.subarray(start).toString('utf8').slice(-LOG_TAIL_BYTES);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
