import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { endLeftovers } from './stack/supervisor.ts';
import { holdFolder } from './os/folder-lock.ts';
import { clearNatsLeftover } from './nats/start.ts';
import { clearLeftover } from './postgres/stale-server.ts';
import { foldersOf, readLocalSettings } from './stack/settings.ts';

const LEFTOVER_STOP_MS = 3_000;

/** `npm run reset`: forgets everything the local stack keeps in its data folder, and nothing else that lies there. */
const reset = async (): Promise<void> => {
  const folders = foldersOf(readLocalSettings().DATA_DIR);
  const isThere = await readdir(folders.root).then(
    () => true,
    () => false,
  );
  if (isThere) {
    await holdFolder(folders.root, folders.run);
    await endLeftovers(folders, LEFTOVER_STOP_MS);
    await clearNatsLeftover(folders.nats);
    await clearLeftover(join(folders.postgres, 'cluster'));
    const { root, run, ...kept } = folders;
    for (const path of Object.values(kept)) await rm(path, { recursive: true, force: true });
    await rm(run, { recursive: true, force: true });
    // Stays when something of somebody else's lies in it.
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
