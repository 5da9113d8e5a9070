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
 * Finds the configured server, one on PATH, the cached one, or the Debian package, downloaded without root. Throws an
 * error with the install command.
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
    throw new Error(`No nats-server was found, and none could be downloaded. ${howToInstall()}`, { cause });
  }
  return cached;
};

const howToInstall = (): string => {
  const command = platform() === 'darwin' ? 'brew install nats-server' : 'sudo apt-get install nats-server';
  return `Install it with "${command}", or put one on PATH.`;
};

const candidatesOnPath = (): string[] => {
  const folders = (inheritedEnvironment()['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  // Folders in which packages install servers. The PATH of an ordinary user often lacks them.
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
    throw new Error(`${binary} is not a nats-server that runs on this machine. ${howToInstall()}`, { cause });
  }
};

/**
 * Unpacks and tests in a temporary folder and renames, so that concurrent starts and kills leave no incomplete binary.
 */
const fetchPackage = async (cache: string, target: string): Promise<void> => {
  const temporary = join(cache, `fetch-${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(temporary, { recursive: true });
  try {
    const [archive] = await downloadPackages(temporary, [PACKAGE]);
    if (archive === undefined) throw new Error('apt-get downloaded no package');
    const unpacked = join(temporary, 'unpacked');
    await run('dpkg-deb', ['-x', archive, unpacked], { timeout: UNPACK_LIMIT_MS });
    const binary = await findUnpacked(unpacked);
    await chmod(binary, 0o755);
    await run(binary, ['--version'], { timeout: VERSION_LIMIT_MS });
    await mkdir(join(target, '..'), { recursive: true });
    await rename(binary, target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};

const findUnpacked = async (folder: string): Promise<string> => {
  for (const subfolder of ['usr/sbin', 'usr/bin']) {
    const binary = join(folder, subfolder, PACKAGE);
    if (await isExecutable(binary)) return binary;
  }
  throw new Error(`the package ${PACKAGE} contains no ${PACKAGE} binary`);
};

/**
 * Returns the files of Debian packages. Tries the system's package lists first. A fresh container has none, so it then
 * uses lists of its own, which needs no root.
 */
export const downloadPackages = async (folder: string, packages: readonly string[]): Promise<string[]> => {
  // As root, apt would download as another user, who may not write to this folder.
  const options = ['-q', '-o', 'APT::Sandbox::User=root'];
  const filesOf = async (): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name.endsWith('.deb')).map((name) => join(folder, name));
  try {
    await apt(folder, [...options, 'download', ...packages], DOWNLOAD_LIMIT_MS);
    return await filesOf();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
  }
  const state = join(folder, 'state');
  const archives = join(folder, 'archives');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(join(archives, 'archives', 'partial'), { recursive: true });
  const own = [...options, '-o', `Dir::State=${state}`, '-o', `Dir::Cache=${archives}`];
  await apt(folder, [...own, 'update'], LISTS_LIMIT_MS);
  await apt(folder, [...own, 'download', ...packages], DOWNLOAD_LIMIT_MS);
  return filesOf();
};

const apt = async (folder: string, options: readonly string[], limitMs: number): Promise<void> => {
  await run('apt-get', [...options], { cwd: folder, timeout: limitMs });
};
