/** Runs of a statement before it counts as fast. */
const RUNS_TO_PROVE = 3;
/**
 * Runs of a statement before it counts as slow. The first runs of a process that starts under load take longer than later
 * ones, and reads of slow statements are refused when many arrive at once.
 */
const RUNS_TO_PROVE_SLOW = 10;
/** Last runs of a statement that decide. */
const RUNS_KEPT = 20;
/**
 * Milliseconds that the median run of a fast statement stays below. The median, since on a busy machine single runs of
 * every statement take longer, and then all would lose the connections that serve them best.
 */
const FAST_BELOW_MS = 50;
/** Maximum distinct statements whose runs are kept. Further ones never count as fast. */
const STATEMENTS_MAX = 2_000;

/** Keeps how long the last runs of each statement took on the server. */
export type StatementSpeed = {
  /** `fast` as `isFast` says. `slow` after ten runs, and `unknown` before. */
  speedOf(sql: string): 'fast' | 'slow' | 'unknown';
  /** True when most of the last 20 runs took less than 50 ms, and there were three. */
  isFast(sql: string): boolean;
  /** Adds a run. `ms`: milliseconds from when the server could begin with it until its answer. */
  ran(sql: string, ms: number): void;
  /** Forgets the runs of a statement, so that it is measured from the beginning. */
  forget(sql: string): void;
};

type Runs = { readonly slow: boolean[]; next: number; slowCount: number };

export const createStatementSpeed = (): StatementSpeed => {
  const statements = new Map<string, Runs>();
  const speedOf = (sql: string): 'fast' | 'slow' | 'unknown' => {
    const runs = statements.get(sql);
    if (runs === undefined || runs.slow.length < RUNS_TO_PROVE) return 'unknown';
    if (runs.slowCount < runs.slow.length / 2) return 'fast';
    return runs.slow.length < RUNS_TO_PROVE_SLOW ? 'unknown' : 'slow';
  };
  return {
    speedOf,
    isFast: (sql) => speedOf(sql) === 'fast',
    forget: (sql) => void statements.delete(sql),
    ran: (sql, ms) => {
      let runs = statements.get(sql);
      if (!runs) {
        if (statements.size >= STATEMENTS_MAX) return;
        runs = { slow: [], next: 0, slowCount: 0 };
        statements.set(sql, runs);
      }
      const isSlow = ms > FAST_BELOW_MS;
      if (runs.slow[runs.next]) runs.slowCount -= 1;
      if (isSlow) runs.slowCount += 1;
      runs.slow[runs.next] = isSlow;
      runs.next = (runs.next + 1) % RUNS_KEPT;
    },
  };
};
