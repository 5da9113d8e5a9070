import { createServer } from 'node:net';

/**
 * Ports from 32768 upwards belong to the kernel: any outgoing connection may take one between our look and our
 * bind, so a port that we pick is always below.
 */
const LOWEST_FREE_PORT = 20_000;
const HIGHEST_FREE_PORT = 32_000;
const MAX_ATTEMPTS = 200;

/** True when nothing listens on this port of the loopback address. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port of the loopback address that nothing listens on, below the range of outgoing connections. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const span = HIGHEST_FREE_PORT - LOWEST_FREE_PORT;
    // Drawn at random so that several processes which look at the same moment rarely meet.
    const port = LOWEST_FREE_PORT + Math.floor(Math.random() * span);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port found between ${LOWEST_FREE_PORT} and ${HIGHEST_FREE_PORT}.`);
}

/** The preferred port when it is free; otherwise, or when 0 is given, another free one below 32768. */
export async function choosePort(preferred: number): Promise<number> {
  if (preferred > 0 && (await isPortFree(preferred))) return preferred;
  return freePort();
}
