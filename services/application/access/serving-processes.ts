import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { createRunTables } from '#platform/postgres/lease/leases.ts';
import { openProcessRow } from '#platform/postgres/lease/process-row.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { WINDOW_SECONDS } from './allowance.ts';
import { createMembership, type Member, type ServingGroup } from './rights/serving-group.ts';

/** Groups of processes that serve the same callers, with the roles of each, and so divide their requests among them. */
const GROUPS = { callers: ['api', 'mcp'], collectors: ['intake'] } as const;
/** Milliseconds between two reads of the live processes. */
const READ_EVERY_MS = 2_000;
/**
 * Seconds without a renewal of its row after which a process has no rights in the next minute. Longer than for leases: of two
 * processes that take each other for dead while Postgres is slow, each would allow the whole limit.
 */
const GONE_AFTER_SECONDS = 20;
const READ = `
  select p.id, extract(epoch from p.started_at)::float8 as started_at
  from run.process p where p.role = any($1) and p.seen_at > now() - interval '${GONE_AFTER_SECONDS} seconds'`;

/**
 * Name of this installation on a NATS server that several share. It has the number of the database, because a copy of a
 * database has the id of the original: the processes of both would give each other rights.
 */
const INSTALLATION = `
  select i.id || '-' || d.oid as name
  from run.installation i, pg_database d where d.datname = current_database()`;

/** The row of a serving process, and the processes of its group. */
export type ServingProcesses = AsyncDisposable & { readonly group: ServingGroup };

/** Registers this process until disposed of. While Postgres does not answer, the last list of processes stays. */
export const openServingProcess = async (
  database: Database,
  role: (typeof GROUPS)[keyof typeof GROUPS][number],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<ServingProcesses> => {
  await createRunTables(database);
  const row = await openProcessRow(database, role);
  const ending = new AbortController();
  const [name, roles] = role === 'intake' ? ['collectors', GROUPS.collectors] : ['callers', GROUPS.callers];
  const { rows } = await database.query<{ name: string }>(INSTALLATION);
  const membership = createMembership(row.id, WINDOW_SECONDS);
  const readLive = async (): Promise<void> => {
    const members = await database.query<Member>({ name: 'read_serving', text: READ, values: [roles] });
    membership.see(members.rows, Math.floor(clock.now().getTime() / 1_000 / WINDOW_SECONDS));
  };
  await readLive();
  const reading = (async (): Promise<void> => {
    for (;;) {
      await pause(READ_EVERY_MS, ending.signal);
      if (ending.signal.aborted) return;
      await readLive().catch((error: unknown) => log.debug({ err: error }, 'serving processes not read'));
    }
  })();
  return {
    group: { name: `${rows[0]?.name}.${name}`, holders: membership.holders },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await reading;
      await row[Symbol.asyncDispose]();
    },
  };
};
