import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { stopOrphans } from './stack/supervisor.ts';
import { lockFolder } from './os/folder-lock.ts';
import { clearStaleNatsServer } from './nats/start.ts';
import { clearStaleServer } from './postgres/stale-server.ts';
import { foldersOf, readLocalSettings } from './stack/settings.ts';

const ORPHAN_STOP_MS = 3_000;

/** Other files in the data folder stay. */
const reset = async (): Promise<void> => {
  const folders = foldersOf(readLocalSettings().DATA_DIR);
  const isThere = await readdir(folders.root).then(
    () => true,
    () => false,
  );
  if (isThere) {
    await lockFolder(folders.root, folders.run);
    await stopOrphans(folders, ORPHAN_STOP_MS);
    await clearStaleNatsServer(folders.nats);
    await clearStaleServer(join(folders.postgres, 'cluster'));
    const { root, run, ...kept } = folders;
    for (const path of Object.values(kept)) await rm(path, { recursive: true, force: true });
    await rm(run, { recursive: true, force: true });
    // Fails when the folder holds other files; then the folder stays.
    await rmdir(root).catch(() => undefined);
  }
  console.log(`${folders.root} is clear.`);
};

try {
  await reset();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
