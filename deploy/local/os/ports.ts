import { createServer } from 'node:net';

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
