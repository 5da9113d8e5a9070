import { hash } from 'node:crypto';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { type ProjectionWait, READ_POSITION_WAIT_MS } from '../commands/projection-wait.ts';
import { hasPassed } from '../commands/projected-positions.ts';
import { createReplica, LATE_MS, type PrimaryPosition, readWalPosition, type Replica } from './replica.ts';

/** Milliseconds between two comparisons of the replicas with the primary. */
const COMPARE_MS = 250;
/** Positions of the primary that are kept: those of twice the time by which a replica may be late. */
const POSITIONS_MAX = (2 * LATE_MS) / COMPARE_MS;
/** Milliseconds between two looks at a replica's checkpoints while a read waits for a position. */
const POSITION_POLL_MS = 20;
/** Maximum callers remembered for having seen the primary. Beyond that, every caller counts as one of them. */
const CALLERS_MAX = 10_000;

/** A database for one request. */
export type ReadRoute = {
  /** `primary`, or the name of a replica. Equal reads of one route may be shared. */
  readonly name: string;
  readonly db: ReadDatabase;
};

/**
 * Chooses the database for each read. A caller reads from one replica, chosen by the hash of its id. It reads from the
 * primary while the replica is gone or late, and after it has seen the primary until the replica shows as much: what a
 * caller has written or read never disappears again.
 */
export type ReadRoutes = AsyncDisposable & {
  /** Returns the route of a read. Call `saw` with it when the read has ended. */
  routeOf(callerId: string): ReadRoute;
  /** The route of everything that decides: commands, keys, idempotency. */
  readonly primary: ReadRoute;
  /** Remembers what the caller has seen, when the route is the primary. */
  saw(callerId: string, route: ReadRoute): void;
  /** Compares the replicas with the primary. Never throws. */
  compare(): Promise<void>;
  /**
   * Waits until the read models have passed a position of the log where the caller reads: half of the time for its
   * replica, then for the primary. Running out of time is not an error.
   */
  waitFor(callerId: string, readModels: readonly string[], position: bigint): Promise<void>;
};

export type ReadRouteOptions = {
  readonly primary: ReadDatabase;
  /** Standbys of the primary. Without any, all reads go to the primary. */
  readonly replicas?: readonly ReadDatabase[];
  readonly projectionWait: ProjectionWait;
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number;
  /** Milliseconds between two comparisons of the replicas with the primary; `null` for none but those of the caller. */
  readonly compareMs?: number | null;
};

export const createReadRoutes = ({
  primary: primaryDb,
  replicas: databases = [],
  projectionWait,
  now = () => performance.now(),
  compareMs = COMPARE_MS,
}: ReadRouteOptions): ReadRoutes => {
  const primary: ReadRoute = { name: 'primary', db: primaryDb };
  const replicas = databases.map((db, index) => createReplica(`replica ${index + 1}`, db, primaryDb, now));
  /** Last time at which a caller saw the primary. */
  const seenAt = new Map<string, number>();
  let everyoneSawAt = Number.NEGATIVE_INFINITY;
  const positions: PrimaryPosition[] = [];
  const ended = new AbortController();

  const replicaOf = (callerId: string): Replica | undefined => {
    if (replicas.length === 0) return undefined;
    return replicas[Number.parseInt(hash('sha256', callerId).slice(0, 8), 16) % replicas.length];
  };
  const sawPrimaryAt = (callerId: string): number =>
    Math.max(seenAt.get(callerId) ?? everyoneSawAt, everyoneSawAt);
  const saw = (callerId: string, { name }: ReadRoute): void => {
    if (name !== primary.name || replicas.length === 0) return;
    seenAt.set(callerId, now());
    if (seenAt.size <= CALLERS_MAX) return;
    everyoneSawAt = now();
    seenAt.clear();
  };
  const routeOf = (callerId: string): ReadRoute => {
    const replica = replicaOf(callerId);
    return replica?.mayServe(sawPrimaryAt(callerId)) ? replica : primary;
  };

  const compare = async (): Promise<void> => {
    const at = now();
    try {
      positions.push({ at, position: await readWalPosition(primaryDb) });
      if (positions.length > POSITIONS_MAX) positions.shift();
    } catch {
      // Replicas are then compared with what is known. They are left out after `LATE_MS`.
    }
    await Promise.all(replicas.map((replica) => replica.update(positions)));
    for (const [callerId, since] of seenAt) if (replicaOf(callerId)?.mayServe(since)) seenAt.delete(callerId);
  };
  const compareUntilEnded = async (intervalMs: number): Promise<void> => {
    while (!ended.signal.aborted) {
      await compare();
      await pause(intervalMs, ended.signal);
    }
  };
  const comparing =
    replicas.length === 0 || compareMs === null ? Promise.resolve() : compareUntilEnded(compareMs);

  return {
    primary,
    routeOf,
    saw,
    compare,
    waitFor: async (callerId, readModels, position) => {
      const until = now() + READ_POSITION_WAIT_MS;
      const half = until - READ_POSITION_WAIT_MS / 2;
      while (now() < half) {
        const route = routeOf(callerId);
        if (route.name === primary.name) break;
        const looking = withTimeBudget(half - now(), () => hasPassed(route.db, readModels, position));
        if (await looking.catch(() => false)) return;
        await pause(POSITION_POLL_MS, ended.signal);
      }
      await projectionWait.wait(readModels, position, Math.max(0, until - now()));
      saw(callerId, primary);
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await comparing;
    },
  };
};
