import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/** Polls a condition without a log position: a process, a file, a port. Throws after the limit. */
export const until = async (
  what: string,
  limitMs: number,
  check: () => boolean | Promise<boolean>,
): Promise<void> => {
  const deadline = Date.now() + limitMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`Timed out after ${limitMs} ms: ${what}.`);
    await delay(POLL_MS);
  }
};
