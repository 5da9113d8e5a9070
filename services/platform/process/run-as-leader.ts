import { pause } from '../clock.ts';
import type { Log } from '../logger.ts';
import { openLeaderLocks } from '../postgres/leader-lock.ts';
import { runWithRestarts } from './run-with-restarts.ts';

/** Milliseconds between two attempts of a standby to take the lock. */
const STANDBY_MS = 1_000;

/**
 * Leader election: of all processes that call this with one name, one at a time runs `run`; the others are standbys.
 * The leader is who holds a Postgres advisory lock. `run` must end when its signal is aborted: the process is then
 * asked to stop, or the connection that holds the lock is lost and another process may lead already. `run` starts
 * again when it returns or fails.
 */
export const runAsLeader = (options: {
  readonly databaseUrl: string;
  /** Name of the lock, one for each role. */
  readonly name: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly run: (leading: AbortSignal) => Promise<void>;
}): Promise<void> => {
  const { databaseUrl, name, log, signal, run } = options;
  return runWithRestarts({
    message: `${name} failed; restarting`,
    log,
    signal,
    run: async () => {
      await using locks = await openLeaderLocks(databaseUrl);
      const leading = AbortSignal.any([signal, locks.lost]);
      while (!leading.aborted && !(await locks.acquire(name))) await pause(STANDBY_MS, leading);
      if (!leading.aborted) log.info({ role: name }, 'leader acquired');
      while (!leading.aborted) await run(leading);
    },
  });
};
