import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { FolderInUse, lockFolder } from './folder-lock.ts';

/** From 32768 upwards the kernel assigns ports to outgoing connections, which could take one between check and bind. */
const LOWEST_FREE_PORT = 20_000;
const HIGHEST_FREE_PORT = 32_000;
const MAX_ATTEMPTS = 200;

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** The port is below the range of outgoing connections. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const span = HIGHEST_FREE_PORT - LOWEST_FREE_PORT;
    // Random, so that several processes that search at the same time rarely choose the same port.
    const port = LOWEST_FREE_PORT + Math.floor(Math.random() * span);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port found between ${LOWEST_FREE_PORT} and ${HIGHEST_FREE_PORT}.`);
}

/** Returns another unused port when the preferred one is taken or 0. */
export async function choosePort(preferred: number): Promise<number> {
  if (preferred > 0 && (await isPortFree(preferred))) return preferred;
  return freePort();
}

const CLAIMS_MAX = 20;
const claimed = new Set<number>();

/**
 * Chooses a port for a service that will listen on it later. Until `resources` end, no other stack of this user chooses it:
 * two stacks that start together would otherwise both find it free, and one would use the services of the other.
 */
export async function claimPort(preferred: number, resources: AsyncDisposableStack): Promise<number> {
  const folder = join(tmpdir(), `ad-intelligence-ports-${userInfo().username}`);
  for (let attempt = 0; attempt < CLAIMS_MAX; attempt += 1) {
    const port = await choosePort(attempt === 0 ? preferred : 0);
    if (claimed.has(port)) continue;
    try {
      resources.use(await lockFolder(`port ${port}`, join(folder, String(port))));
      claimed.add(port);
      resources.defer(() => void claimed.delete(port));
      return port;
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
    }
  }
  throw new Error(`No port found that no other stack has chosen, in ${CLAIMS_MAX} attempts.`);
}
