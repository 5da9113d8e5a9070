import { connect } from 'node:net';
import { pause } from '#platform/clock.ts';
import type { Service } from './supervisor.ts';

const POLL_MS = 50;
const TRY_LIMIT_MS = 2_000;

/** Throws when the service was given up or the limit has passed. */
export const waitUntilReady = async (
  what: string,
  limitMs: number,
  service: Service | null,
  signal: AbortSignal,
  check: () => Promise<boolean>,
): Promise<void> => {
  const deadline = Date.now() + limitMs;
  while (!(await check())) {
    signal.throwIfAborted();
    const failure = service?.failure() ?? null;
    if (failure !== null) throw new Error(failure);
    if (Date.now() > deadline) throw new Error(`${what} was not ready within ${limitMs / 1_000} seconds.`);
    await pause(POLL_MS, signal);
  }
};

export const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: TRY_LIMIT_MS });
    const finish = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });

export const answersOk = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<boolean> => {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TRY_LIMIT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
};
