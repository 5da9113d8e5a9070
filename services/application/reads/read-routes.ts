import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { serverFaultOf } from '#platform/server-fault.ts';
import {
  POSITIONS,
  type PositionRow,
  type ProjectionWait,
  havePassed,
  toPositions,
} from '../commands/projection-wait.ts';

/** A standby that is further behind is not used. */
export const LATE_MS = 10_000;
const COMPARE_MS = 250;
const POSITION_ANSWER_MS = 1_000;
const POSITIONS_MAX = LATE_MS / COMPARE_MS;
/** Above this, every caller counts as one that has seen the primary. */
const CALLERS_MAX = 10_000;
/** SQLSTATEs of a refused login; `serverFaultOf` has the other faults. */
const NOT_LET_IN = /^(28...|3D000)$/;

/** Position in the write-ahead log in bytes: written by a primary, replayed by a standby. */
const WAL_POSITION: ReadQuery = {
  sql: `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end
    - '0/0'::pg_lsn)::text as position`,
  values: [],
};

export type ReadRoute = {
  /** Equal reads of routes with one name may be shared. */
  readonly name: 'primary' | 'standby';
  readonly db: ReadDatabase;
  readonly hasReadPrimary: () => boolean;
};

/** Routes a read to the standby, unless the caller has seen more: what it saw must not disappear again. */
export type ReadRoutes = AsyncDisposable & {
  /** Call `saw` with the route when the read has ended. */
  routeOf(callerId: string): ReadRoute;
  readonly primary: ReadRoute;
  saw(callerId: string, route: ReadRoute): void;
  /** Log position that a reply of the primary may show. `null` when the standby replied, or there is none. */
  shownUpTo(route: ReadRoute, readModels: readonly string[]): Promise<bigint | null> | null;
  /** Waits until the caller's read models have passed a position. Running out of time is not an error. */
  waitFor(callerId: string, readModels: readonly string[], position: bigint): Promise<void>;
  /** Never throws. */
  compare(): Promise<void>;
};

export type ReadRouteOptions = {
  readonly primary: ReadDatabase;
  readonly standby?: ReadDatabase | undefined;
  readonly projectionWait: ProjectionWait;
  readonly now?: () => number;
  /** `null` turns the timer off; `compare` still works. */
  readonly compareMs?: number | null;
};

const readPosition = async (db: ReadDatabase): Promise<bigint> => {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(() => silent.reject(new Error('no position in time')), POSITION_ANSWER_MS);
  try {
    const [row] = await Promise.race([db.query<{ position: string }>(WAL_POSITION), silent.promise]);
    return BigInt(row?.position ?? 0);
  } finally {
    clearTimeout(timer);
  }
};

const mayRepeat = (error: unknown): boolean =>
  serverFaultOf(error) !== null || NOT_LET_IN.test(String((error as { readonly code?: unknown }).code));

export const createReadRoutes = ({
  primary: primaryDb,
  standby,
  projectionWait,
  now = () => performance.now(),
  compareMs = COMPARE_MS,
}: ReadRouteOptions): ReadRoutes => {
  const primary: ReadRoute = { name: 'primary', db: primaryDb, hasReadPrimary: () => true };
  /** Time at which each caller last saw the primary, the earliest first. */
  const seenAt = new Map<string, number>();
  let everyoneSawAt = Number.NEGATIVE_INFINITY;
  /** Positions of the primary, the earliest first. `at`: before the position was read. */
  const positions: { readonly at: number; readonly position: bigint }[] = [];
  /** The standby shows all that the primary showed at this time. */
  let caughtUpTo = Number.NEGATIVE_INFINITY;
  let reached = -1n;
  const ended = new AbortController();

  /** When the standby is back, it may show an earlier state than it did. So it has to catch up to now. */
  const lose = (): void => {
    everyoneSawAt = now();
  };
  const openStandbyRoute = (db: ReadDatabase): ReadRoute => {
    let hasReadPrimary = false;
    const lossAtStart = everyoneSawAt;
    const read =
      (kind: 'query' | 'slow') =>
      async <Row>(statement: ReadQuery): Promise<readonly Row[]> => {
        if (!hasReadPrimary && everyoneSawAt === lossAtStart) {
          try {
            return await db[kind]<Row>(statement);
          } catch (error) {
            if (!mayRepeat(error)) throw error;
            if (isConnectionFailure(error)) lose();
          }
        }
        hasReadPrimary = true;
        return primaryDb[kind]<Row>(statement);
      };
    return {
      name: 'standby',
      db: { query: read('query'), slow: read('slow') },
      hasReadPrimary: () => hasReadPrimary,
    };
  };
  const mayReadStandby = (callerId: string): boolean =>
    now() - caughtUpTo <= LATE_MS &&
    caughtUpTo >= Math.max(seenAt.get(callerId) ?? everyoneSawAt, everyoneSawAt);
  const pin = (callerId: string): void => {
    seenAt.delete(callerId);
    seenAt.set(callerId, now());
    if (seenAt.size <= CALLERS_MAX) return;
    everyoneSawAt = now();
    seenAt.clear();
  };

  const compare = async (): Promise<void> => {
    if (!standby) return;
    for (const [callerId, at] of seenAt) {
      if (at >= caughtUpTo) break;
      seenAt.delete(callerId);
    }
    const at = now();
    const written = await readPosition(primaryDb).catch(() => null);
    if (written !== null) positions.push({ at, position: written });
    if (positions.length > POSITIONS_MAX) positions.shift();
    const position = await readPosition(standby).catch(() => null);
    if (position === null || position < reached) lose();
    if (position === null) return;
    reached = position;
    caughtUpTo = positions.findLast((one) => one.position <= position)?.at ?? caughtUpTo;
  };
  const compareUntilEnded = async (intervalMs: number): Promise<void> => {
    while (!ended.signal.aborted) {
      await compare();
      await pause(intervalMs, ended.signal);
    }
  };
  const comparing = !standby || compareMs === null ? Promise.resolve() : compareUntilEnded(compareMs);

  const readShown = async (readModels: readonly string[]): Promise<bigint | null> => {
    const known = toPositions(await primaryDb.query<PositionRow>(POSITIONS));
    const shown = readModels.flatMap((name) => known.get(name) ?? []);
    return shown.reduce<bigint | null>((up, one) => (up === null || one > up ? one : up), null);
  };

  return {
    primary,
    routeOf: (callerId) => (standby && mayReadStandby(callerId) ? openStandbyRoute(standby) : primary),
    saw: (callerId, route) => {
      if (standby && route.hasReadPrimary()) pin(callerId);
    },
    shownUpTo: (route, readModels) =>
      standby && readModels.length > 0 && route.hasReadPrimary() ? readShown(readModels) : null,
    waitFor: async (callerId, readModels, position) => {
      if (standby && mayReadStandby(callerId)) {
        const rows = await standby.query<PositionRow>(POSITIONS).catch(() => []);
        if (havePassed(toPositions(rows), readModels, position)) return;
      }
      if (standby) pin(callerId);
      await projectionWait.wait(readModels, position);
    },
    compare,
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await comparing;
    },
  };
};
