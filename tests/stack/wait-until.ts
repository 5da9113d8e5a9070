import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/** Waits for something that has no position to wait for: a process, a file, a port. Bounded. */
export const until = async (
  what: string,
  limitMs: number,
  check: () => boolean | Promise<boolean>,
): Promise<void> => {
  const deadline = Date.now() + limitMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}.`);
    await delay(POLL_MS);
  }
};
