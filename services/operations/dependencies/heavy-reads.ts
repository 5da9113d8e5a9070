import { availableParallelism } from 'node:os';
import { Refusal } from '#contracts/errors.ts';
import { HEAVY_CLIENTS } from '#platform/postgres/read-database.ts';

/** Each heavy read has a connection. */
export const HEAVY_MAX = HEAVY_CLIENTS;
/** A machine of two processors gets 1, because it often shares them with the database. */
export const HEAVY_PER_WORKSPACE_MAX = Math.min(2, Math.max(1, availableParallelism() - 1));
export const WAITING_PER_WORKSPACE_MAX = 8;
export const HEAVY_WAIT_MS = 2_000;
const WAITING_MAX = 64;
const RETRY_AFTER_SECONDS = 1;

const refusal = (): Refusal =>
  new Refusal(
    'overloaded',
    `Too many searches at once. In a workspace, at most ${HEAVY_PER_WORKSPACE_MAX} run and ${WAITING_PER_WORKSPACE_MAX} wait for up to ${HEAVY_WAIT_MS / 1_000} s. Send the next one when one has ended, or narrow it to a brand.`,
    [],
    RETRY_AFTER_SECONDS,
  );

/** Throws `Refusal` when too many heavy reads run and wait. */
export type HeavyReads = <T>(workspaceId: string, read: () => Promise<T>) => Promise<T>;

type Waiting = { readonly workspaceId: string; readonly start: () => void };

export const createHeavyReads = (max = HEAVY_MAX): HeavyReads => {
  const running = new Map<string, number>();
  const queue = new Set<Waiting>();
  let runningCount = 0;

  const take = (workspaceId: string): boolean => {
    const own = running.get(workspaceId) ?? 0;
    if (runningCount >= max || own >= HEAVY_PER_WORKSPACE_MAX) return false;
    runningCount += 1;
    running.set(workspaceId, own + 1);
    return true;
  };
  const leave = (workspaceId: string): void => {
    runningCount -= 1;
    const left = (running.get(workspaceId) ?? 1) - 1;
    if (left === 0) running.delete(workspaceId);
    else running.set(workspaceId, left);
    // Reads of a workspace at its limit let others pass.
    for (const waiting of queue) if (take(waiting.workspaceId)) waiting.start();
  };
  const waitForPlace = (workspaceId: string): Promise<void> => {
    const own = [...queue].filter((waiting) => waiting.workspaceId === workspaceId).length;
    if (queue.size >= WAITING_MAX || own >= WAITING_PER_WORKSPACE_MAX) throw refusal();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiting);
        reject(refusal());
      }, HEAVY_WAIT_MS);
      const waiting: Waiting = {
        workspaceId,
        start: () => {
          clearTimeout(timer);
          queue.delete(waiting);
          resolve();
        },
      };
      queue.add(waiting);
    });
  };

  return async (workspaceId, read) => {
    if (!take(workspaceId)) await waitForPlace(workspaceId);
    try {
      return await read();
    } finally {
      leave(workspaceId);
    }
  };
};
