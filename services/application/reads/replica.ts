import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import {
  hasTime,
  timeLeft,
  TimeUsedUp,
  untilTimeUsedUp,
  withTimeBudget,
} from '#platform/concurrency/time-budget.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { ReadsBusy } from '#platform/postgres/hot-connections.ts';
import { DEAD_FOUND_MS } from '#platform/postgres/silence.ts';
import { createAnswerTimes } from './answer-times.ts';

/** Milliseconds that a replica may take to tell its position before it counts as silent. */
const POSITION_ANSWER_MS = 1_000;
/** Milliseconds by which a replica may be late. A later one is left out until it has caught up. */
export const LATE_MS = 10_000;
/**
 * Milliseconds that a replica may take to tell its position, as the median of its last answers. A slower one is left out until
 * it takes less than `FAST_AGAIN_MS`. It stays when the primary takes half as long: then the process or both servers are busy.
 */
const SLOW_MS = 50;
const FAST_AGAIN_MS = 25;
/** Milliseconds after which a statement that is slow at a replica only is measured there again. */
const MEASURED_AGAIN_MS = 10_000;
/** Part of the time left to a light read that its replica has. The rest is for the primary. */
export const REPLICA_PART = 1 / 2;
/** PostgreSQL cancels a read that conflicts with recovery by this code. */
const RECOVERY_CONFLICT = '40001';
/** SQLSTATEs of a server that lets no further connection in: too many, or the login is refused. */
const NOT_LET_IN = /^(53300|28...|3D000)$/;
const STATEMENT_CANCELLED = '57014';

/** Position in the write-ahead log: written by a primary, replayed by a standby. */
const WAL_POSITION: ReadQuery = {
  sql: `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end
    - '0/0'::pg_lsn)::text as position`,
  values: [],
};

/** Reads the position of a server in its write-ahead log, in bytes. Throws when the server does not answer in time. */
export const readWalPosition = async (db: ReadDatabase): Promise<bigint> => {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => silent.reject(new ReplicaLost(`it did not tell its position in ${POSITION_ANSWER_MS} ms`)),
    POSITION_ANSWER_MS,
  );
  try {
    const [row] = await Promise.race([db.query<{ position: string }>(WAL_POSITION), silent.promise]);
    return BigInt(row?.position ?? 0);
  } finally {
    clearTimeout(timer);
  }
};

/** Rejects the reads that wait for a replica which does not answer. */
export class ReplicaLost extends Error {
  constructor(reason: string) {
    super(`A read replica is left out: ${reason}`);
    this.name = 'ReplicaLost';
  }
}

/** Position of the primary at a time. `at`: milliseconds of the monotonic clock, before the position was read. */
export type PrimaryPosition = { readonly at: number; readonly position: bigint };

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code);

/** True when the replica is gone, or its recovery cancelled the read. It shows perhaps less than before when it is back. */
const isLoss = (error: unknown): boolean =>
  error instanceof ReplicaLost || isConnectionFailure(error) || codeOf(error) === RECOVERY_CONFLICT;

/** True when the replica is too busy or too slow for a light read. The primary has what is left of its time. */
const isTooBusy = (error: unknown): boolean =>
  error instanceof ReadsBusy || error instanceof TimeUsedUp || codeOf(error) === STATEMENT_CANCELLED;

/** True when a read that failed on a replica may be repeated on the primary. */
const mayRepeat = (kind: 'query' | 'slow', error: unknown): boolean =>
  isLoss(error) || NOT_LET_IN.test(codeOf(error)) || (kind === 'query' && isTooBusy(error) && hasTime());

/** Gives the replica a part of the time of a request. Work without a time has the limits of the replica. */
const inPart = <T>(read: () => Promise<T>): Promise<T> => {
  const leftMs = timeLeft(Number.POSITIVE_INFINITY);
  return Number.isFinite(leftMs)
    ? withTimeBudget(leftMs * REPLICA_PART, () => untilTimeUsedUp(read()))
    : read();
};

/** The reads of one request from a replica. */
export type ReplicaRoute = {
  readonly name: string;
  /**
   * Reads from the replica; once more from the primary when the replica fails under way. All later reads of the request then
   * go to the primary, as after a loss that another request has noticed.
   */
  readonly db: ReadDatabase;
  /** True once a read was answered by the primary: the caller has seen its state. */
  readonly hasReadPrimary: () => boolean;
};

/** A standby of the primary, with how far it has caught up. */
export type Replica = {
  readonly name: string;
  /** Reads from the replica alone. Throws `ReplicaLost` once it counts as lost. */
  readonly alone: Pick<ReadDatabase, 'query'>;
  /** Begins the reads of one request. */
  openRoute(): ReplicaRoute;
  /** True when it shows all that the primary showed at `since`, is late by `LATE_MS` at most, and is not slow. */
  mayServe(since: number): boolean;
  /**
   * Reads its position and compares it with those of the primary, oldest first. `primaryMs`: milliseconds that the primary took
   * for its last ones, as their median. Never throws.
   */
  update(primary: readonly PrimaryPosition[], primaryMs: number): Promise<void>;
};

/**
 * Creates a replica that is left out until its first `update`. `primary` answers the reads at which the replica fails.
 * `now`: the monotonic clock, in milliseconds.
 */
export const createReplica = (
  name: string,
  replica: ReadDatabase,
  primary: ReadDatabase,
  now: () => number,
): Replica => {
  /** All that the primary showed at this time is shown. */
  let caughtUpTo = Number.NEGATIVE_INFINITY;
  /** After a failure the replica may show an earlier state than before, so it has to catch up to the failure. */
  let lostAt = Number.NEGATIVE_INFINITY;
  let losses = 0;
  /**
   * Time of the last loss that was no conflict with recovery. Idle connections may have died with it. A search would wait for a
   * dead one as long as for its answer, so searches go to the primary until dead ones are found. A light read waits for a part
   * of its time only.
   */
  let brokenAt = Number.NEGATIVE_INFINITY;
  let newest = -1n;
  const times = createAnswerTimes();
  let isSlow = false;
  /** Rejects each read that waits for the replica. */
  const waiting = new Set<(error: ReplicaLost) => void>();

  const lose = (error: unknown): void => {
    lostAt = now();
    losses += 1;
    if (codeOf(error) !== RECOVERY_CONFLICT) brokenAt = lostAt;
    const lost = error instanceof ReplicaLost ? error : new ReplicaLost('it failed');
    for (const reject of waiting) reject(lost);
  };
  const unlessLost = async <T>(answer: Promise<T>): Promise<T> => {
    const lost = Promise.withResolvers<never>();
    waiting.add(lost.reject);
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      waiting.delete(lost.reject);
    }
  };

  /** Since when statements that are slow here only go to the primary. */
  const slowHereSince = new Map<string, number>();
  /**
   * True for a statement that is slow here only. Its wait for a place among slow ones would take longer than the primary. It is
   * measured here again after a while, because nothing else would show that it is fast again.
   */
  const isSlowHere = (sql: string): boolean => {
    if (replica.speedOf?.(sql) !== 'slow' || primary.speedOf?.(sql) === 'slow') return false;
    const since = slowHereSince.get(sql) ?? now();
    slowHereSince.set(sql, since);
    if (now() - since < MEASURED_AGAIN_MS) return true;
    slowHereSince.delete(sql);
    replica.forgetSpeed?.(sql);
    return false;
  };

  const openRoute = (): ReplicaRoute => {
    const lossesBefore = losses;
    let hasReadPrimary = false;
    const mayAsk = (sql: string): boolean => !hasReadPrimary && losses === lossesBefore && !isSlowHere(sql);
    const maySearch = (): boolean => now() - brokenAt >= DEAD_FOUND_MS;
    const read =
      (kind: 'query' | 'slow') =>
      async <Row>(statement: ReadQuery): Promise<readonly Row[]> => {
        const ask = (): Promise<readonly Row[]> => unlessLost(replica[kind]<Row>(statement));
        if (mayAsk(statement.sql) && (kind === 'query' || maySearch())) {
          try {
            return await (kind === 'query' ? inPart(ask) : ask());
          } catch (error) {
            if (!mayRepeat(kind, error)) throw error;
            if (isLoss(error) && !(error instanceof ReplicaLost)) lose(error);
          }
        }
        hasReadPrimary = true;
        return primary[kind]<Row>(statement);
      };
    return {
      name,
      db: {
        query: read('query'),
        slow: read('slow'),
        speedOf: (sql) => (mayAsk(sql) ? replica : primary).speedOf?.(sql) ?? 'fast',
      },
      hasReadPrimary: () => hasReadPrimary,
    };
  };
  const notePace = (tookMs: number, primaryMs: number): void => {
    times.add(tookMs);
    isSlow = times.median() > Math.max(isSlow ? FAST_AGAIN_MS : SLOW_MS, 2 * primaryMs);
  };

  return {
    name,
    alone: { query: (statement) => unlessLost(replica.query(statement)) },
    openRoute,
    mayServe: (since) => !isSlow && caughtUpTo >= Math.max(since, lostAt) && now() - caughtUpTo <= LATE_MS,
    update: async (positions, primaryMs) => {
      const since = now();
      try {
        const position = await readWalPosition(replica);
        notePace(now() - since, primaryMs);
        if (position < newest) lose(new ReplicaLost('it went back to an earlier state'));
        newest = position;
        const reached = positions.findLast((one) => one.position <= position);
        if (reached) caughtUpTo = Math.max(caughtUpTo, reached.at);
      } catch (error) {
        notePace(POSITION_ANSWER_MS, primaryMs);
        lose(error);
      }
    },
  };
};
