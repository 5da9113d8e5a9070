import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { createRunTables } from '#platform/postgres/lease/leases.ts';
import { isAliveSql, openProcessRow } from '#platform/postgres/lease/process-row.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Processes that serve callers, and so count their requests. */
const ROLES = ['api', 'mcp'] as const;
/** Milliseconds between two counts. */
const COUNT_EVERY_MS = 2_000;
const COUNT = `select count(*)::int as live from run.process p where p.role = any($1) and ${isAliveSql('p')}`;

/** The row of a serving process, and the number of live ones. */
export type ServingProcesses = AsyncDisposable & {
  /** Number of live serving processes, this one included, as counted last. */
  count(): number;
};

/** Registers this process until disposed of. While Postgres does not answer, the last count stays. */
export const openServingProcess = async (
  database: Database,
  role: (typeof ROLES)[number],
  log: Log,
): Promise<ServingProcesses> => {
  await createRunTables(database);
  const row = await openProcessRow(database, role);
  const ending = new AbortController();
  let live = 1;
  const countLive = async (): Promise<void> => {
    const { rows } = await database.query<{ live: number }>({
      name: 'count_serving',
      text: COUNT,
      values: [ROLES],
    });
    live = Math.max(1, rows[0]?.live ?? 1);
  };
  await countLive();
  const counting = (async (): Promise<void> => {
    for (;;) {
      await pause(COUNT_EVERY_MS, ending.signal);
      if (ending.signal.aborted) return;
      await countLive().catch((error: unknown) => log.debug({ err: error }, 'serving processes not counted'));
    }
  })();
  return {
    count: () => live,
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await counting;
      await row[Symbol.asyncDispose]();
    },
  };
};
