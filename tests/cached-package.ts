import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CACHE } from '#deploy/local/stack/settings.ts';

const INSTALL_LIMIT_MS = 180_000;
const OPTIONS = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];

/** Fills a folder of the cache, once, and returns its path. The rename keeps concurrent tests apart. */
export const fillCache = async (
  name: string,
  fill: (folder: string) => Promise<unknown>,
): Promise<string> => {
  const target = join(CACHE, name);
  const isThere = () =>
    stat(target).then(
      () => true,
      () => false,
    );
  if (await isThere()) return target;
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'fill-'));
  try {
    await fill(folder);
    await rename(folder, target);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    // Another test may have filled it meanwhile.
    if (!(await isThere())) throw error;
  }
  return target;
};

/**
 * Installs a package into the cache that is too large for a dependency. Returns the `node_modules` folder that contains it.
 * When the installation fails, prints the reason and returns `null`.
 */
export const findCachedPackage = async (name: string, version: string): Promise<string | null> => {
  const install = (folder: string) =>
    promisify(execFile)('npm', ['install', '--prefix', folder, ...OPTIONS, `${name}@${version}`], {
      timeout: INSTALL_LIMIT_MS,
    });
  try {
    return join(
      await fillCache(join('npm', `${name.replace('/', '+')}@${version}`), install),
      'node_modules',
    );
  } catch (error) {
    console.warn(`Tests are skipped: ${name} could not be installed.`, error);
    return null;
  }
};
