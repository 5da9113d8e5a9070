import { hash } from 'node:crypto';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { type PositionRow, POSITIONS, toPositions } from '../commands/projected-positions.ts';
import { type ProjectionWait, READ_POSITION_WAIT_MS } from '../commands/projection-wait.ts';
import { createAnswerTimes } from './answer-times.ts';
import { createPositionWatch } from './position-watch.ts';
import { createReplica, LATE_MS, type PrimaryPosition, readWalPosition, type Replica } from './replica.ts';

/** Milliseconds between two comparisons of the replicas with the primary. */
const COMPARE_MS = 250;
/** Positions of the primary that are kept: those of twice the time by which a replica may be late. */
const POSITIONS_MAX = (2 * LATE_MS) / COMPARE_MS;
/** Maximum callers remembered for having seen the primary. Beyond that, every caller counts as one of them. */
const CALLERS_MAX = 10_000;

/** A database for one request. */
export type ReadRoute = {
  /** `primary`, or the name of a replica. Equal reads of one route may be shared. */
  readonly name: string;
  readonly db: ReadDatabase;
  /** True once a replica's read was answered by the primary. Absent for the primary. */
  readonly hasReadPrimary?: () => boolean;
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
  /**
   * Returns the position up to which a reply of the route may show the log, so that its caller can ask another process for as much.
   * Call it after the reads of the reply. `null` when a replica answered: every process asks the same one for a caller.
   */
  shownUpTo(route: ReadRoute, readModels: readonly string[]): Promise<bigint | null>;
  /** Remembers what the caller has seen, when the primary has answered on the route. */
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
  const primaryTimes = createAnswerTimes();
  const ended = new AbortController();
  const watches = new Map(
    replicas.map((replica) => [replica, createPositionWatch(replica.alone, ended.signal)]),
  );

  const replicaOf = (callerId: string): Replica | undefined => {
    if (replicas.length === 0) return undefined;
    return replicas[Number.parseInt(hash('sha256', callerId).slice(0, 8), 16) % replicas.length];
  };
  const sawPrimaryAt = (callerId: string): number =>
    Math.max(seenAt.get(callerId) ?? everyoneSawAt, everyoneSawAt);
  /** True when the caller has seen the primary, which may be ahead of its replica. */
  const hasSeenPrimary = ({ name, hasReadPrimary }: ReadRoute): boolean =>
    replicas.length > 0 && (name === primary.name || hasReadPrimary?.() === true);
  const saw = (callerId: string, route: ReadRoute): void => {
    if (!hasSeenPrimary(route)) return;
    seenAt.set(callerId, now());
    if (seenAt.size <= CALLERS_MAX) return;
    everyoneSawAt = now();
    seenAt.clear();
  };
  const isServedBy = (replica: Replica | undefined, callerId: string): replica is Replica =>
    replica?.mayServe(sawPrimaryAt(callerId)) ?? false;
  const routeOf = (callerId: string): ReadRoute => {
    const replica = replicaOf(callerId);
    return isServedBy(replica, callerId) ? replica.openRoute() : primary;
  };

  const compare = async (): Promise<void> => {
    const at = now();
    try {
      positions.push({ at, position: await readWalPosition(primaryDb) });
      primaryTimes.add(now() - at);
      if (positions.length > POSITIONS_MAX) positions.shift();
    } catch {
      // Replicas are then compared with what is known. They are left out after `LATE_MS`.
    }
    const primaryMs = primaryTimes.median();
    await Promise.all(replicas.map((replica) => replica.update(positions, primaryMs)));
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
    shownUpTo: async (route, readModels) => {
      if (readModels.length === 0 || !hasSeenPrimary(route)) return null;
      const known = toPositions(await primaryDb.query<PositionRow>(POSITIONS));
      const shown = readModels.flatMap((name) => known.get(name) ?? []);
      return shown.reduce<bigint | null>((up, one) => (up === null || one > up ? one : up), null);
    },
    compare,
    waitFor: async (callerId, readModels, position) => {
      const until = now() + READ_POSITION_WAIT_MS;
      const replica = replicaOf(callerId);
      const isUsed = (): boolean => isServedBy(replica, callerId);
      if (replica && isUsed()) {
        const ms = READ_POSITION_WAIT_MS / 2;
        if (await watches.get(replica)?.wait(readModels, position, { ms, isUsed })) return;
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
