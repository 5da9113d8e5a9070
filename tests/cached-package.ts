import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CACHE } from '#deploy/local/stack/settings.ts';

const INSTALL_LIMIT_MS = 180_000;
const OPTIONS = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];

/**
 * Installs a package into the cache that is too large for a dependency. Returns the `node_modules` folder that contains it.
 * When the installation fails, prints the reason and returns `null`. The rename keeps concurrent tests apart.
 */
export const findCachedPackage = async (name: string, version: string): Promise<string | null> => {
  const target = join(CACHE, 'npm', `${name.replace('/', '+')}@${version}`);
  const isThere = () =>
    stat(target).then(
      () => true,
      () => false,
    );
  if (!(await isThere())) {
    await mkdir(join(CACHE, 'npm'), { recursive: true });
    const folder = await mkdtemp(join(CACHE, 'npm', 'install-'));
    try {
      const args = ['install', '--prefix', folder, ...OPTIONS, `${name}@${version}`];
      await promisify(execFile)('npm', args, { timeout: INSTALL_LIMIT_MS });
      await rename(folder, target);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      // Another test may have installed it meanwhile.
      if (!(await isThere())) {
        console.warn(`Tests are skipped: ${name} could not be installed.`, error);
        return null;
      }
    }
  }
  return join(target, 'node_modules');
};
