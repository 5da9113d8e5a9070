import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';

/** Milliseconds that a replica may take to tell its position before it counts as silent. */
const POSITION_ANSWER_MS = 1_000;
/** Milliseconds by which a replica may be late. A later one is left out until it has caught up. */
export const LATE_MS = 10_000;
/** PostgreSQL cancels a read that conflicts with recovery by this code. */
const RECOVERY_CONFLICT = '40001';

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

/** True when a read may be repeated on the primary: the replica is gone, or its recovery cancelled the read. */
const isReplicaFailure = (error: unknown): boolean =>
  error instanceof ReplicaLost ||
  isConnectionFailure(error) ||
  (error as { readonly code?: unknown }).code === RECOVERY_CONFLICT;

/** A standby of the primary, with how far it has caught up. */
export type Replica = {
  readonly name: string;
  /** Reads from the replica; once more from the primary when the replica fails under way. */
  readonly db: ReadDatabase;
  /** True when it shows all that the primary showed at `since`, and is late by `LATE_MS` at most. */
  mayServe(since: number): boolean;
  /** Reads its position and compares it with those of the primary, oldest first. Never throws. */
  update(primary: readonly PrimaryPosition[]): Promise<void>;
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
  let newest = -1n;
  /** Rejects each read that waits for the replica. */
  const waiting = new Set<(error: ReplicaLost) => void>();

  const lose = (error: unknown): void => {
    lostAt = now();
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

  const read =
    (kind: 'query' | 'slow') =>
    async <Row>(statement: ReadQuery): Promise<readonly Row[]> => {
      try {
        return await unlessLost(replica[kind]<Row>(statement));
      } catch (error) {
        if (!isReplicaFailure(error)) throw error;
        if (!(error instanceof ReplicaLost)) lose(error);
        try {
          return await primary[kind]<Row>(statement);
        } finally {
          // Callers have seen the primary as it was now.
          lostAt = now();
        }
      }
    };

  return {
    name,
    db: {
      query: read('query'),
      slow: read('slow'),
      speedOf: (sql) => replica.speedOf?.(sql) ?? 'fast',
    },
    mayServe: (since) => caughtUpTo >= Math.max(since, lostAt) && now() - caughtUpTo <= LATE_MS,
    update: async (positions) => {
      try {
        const position = await readWalPosition(replica);
        if (position < newest) lose(new ReplicaLost('it went back to an earlier state'));
        newest = position;
        const reached = positions.findLast((one) => one.position <= position);
        if (reached) caughtUpTo = Math.max(caughtUpTo, reached.at);
      } catch (error) {
        lose(error);
      }
    },
  };
};
