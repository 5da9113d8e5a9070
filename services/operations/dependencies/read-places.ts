import { timeLeft } from '#platform/concurrency/time-budget.ts';

/** Limits of reads of one kind in one process. */
export type ReadPlacesOptions = {
  /** Maximum reads that run at the same time, of all workspaces and of one. */
  readonly inFlightMax: number;
  readonly perWorkspaceMax: number;
  /** Maximum reads that wait, of all workspaces and of one. */
  readonly waitingMax: number;
  readonly waitingPerWorkspaceMax: number;
  /** Milliseconds that a read may wait. */
  readonly waitMs: number;
  /** Creates the error of a read that finds no place in time. */
  readonly refusal: () => Error;
};

/** Bounds the reads of one kind, so that one workspace cannot occupy the connections of all. */
export type ReadPlaces = {
  /**
   * Runs a read in a place of its workspace. Throws the refusal when too many run or wait. `needsPlace`: a read that waits
   * leaves the queue without a place once this returns false.
   */
  run<T>(workspaceId: string, read: () => Promise<T>, needsPlace?: () => boolean): Promise<T>;
};

type Waiting = {
  readonly workspaceId: string;
  readonly needsPlace: () => boolean;
  /** Ends the wait, with a place or without. */
  readonly start: (hasPlace: boolean) => void;
};

const always = (): boolean => true;

export const createReadPlaces = ({
  inFlightMax,
  perWorkspaceMax,
  waitingMax,
  waitingPerWorkspaceMax,
  waitMs,
  refusal,
}: ReadPlacesOptions): ReadPlaces => {
  const running = new Map<string, number>();
  const waitingOf = new Map<string, number>();
  const queue = new Set<Waiting>();
  let inFlight = 0;

  const mayStart = (workspaceId: string): boolean =>
    inFlight < inFlightMax && (running.get(workspaceId) ?? 0) < perWorkspaceMax;
  const take = (workspaceId: string): void => {
    inFlight += 1;
    running.set(workspaceId, (running.get(workspaceId) ?? 0) + 1);
  };
  const dequeue = (waiting: Waiting): void => {
    queue.delete(waiting);
    const left = (waitingOf.get(waiting.workspaceId) ?? 1) - 1;
    if (left === 0) waitingOf.delete(waiting.workspaceId);
    else waitingOf.set(waiting.workspaceId, left);
  };

  /** Returns whether the read holds a place. */
  const enter = (workspaceId: string, needsPlace: () => boolean): boolean | Promise<boolean> => {
    if (mayStart(workspaceId)) {
      take(workspaceId);
      return true;
    }
    const own = waitingOf.get(workspaceId) ?? 0;
    if (queue.size >= waitingMax || own >= waitingPerWorkspaceMax) throw refusal();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        workspaceId,
        needsPlace,
        start: (hasPlace) => {
          clearTimeout(timer);
          dequeue(waiting);
          resolve(hasPlace);
        },
      };
      const timer = setTimeout(() => {
        dequeue(waiting);
        reject(refusal());
      }, timeLeft(waitMs));
      queue.add(waiting);
      waitingOf.set(workspaceId, own + 1);
    });
  };

  const leave = (workspaceId: string): void => {
    inFlight -= 1;
    const left = (running.get(workspaceId) ?? 1) - 1;
    if (left === 0) running.delete(workspaceId);
    else running.set(workspaceId, left);
    for (const waiting of queue) {
      if (!waiting.needsPlace()) waiting.start(false);
      // Reads of a workspace at its limit let others pass.
      else if (mayStart(waiting.workspaceId)) {
        take(waiting.workspaceId);
        waiting.start(true);
      }
    }
  };

  return {
    run: async (workspaceId, read, needsPlace = always) => {
      const entered = enter(workspaceId, needsPlace);
      const hasPlace = entered instanceof Promise ? await entered : entered;
      try {
        return await read();
      } finally {
        if (hasPlace) leave(workspaceId);
      }
    },
  };
};
