import { type Clock, pause } from '#platform/clock.ts';
import { publishBatch } from '#application/delivery-outbox/journal.ts';
import type { QueuedDelivery } from '#application/delivery-outbox/enqueue.ts';
import { type SecretVault, forgetUnusedSecrets } from '#application/vault/secret-vault.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveLease } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, withProof } from '#platform/postgres/pool.ts';
import { suspendFailingEndpoints } from './suspend-failing-endpoints.ts';

const ROLE = 'delivery';
const RECORD_EVERY_MS = 1_000;
const GIVE_UP_EVERY_MS = 30_000;
const TRIM_EVERY_MS = 600_000;
const FORGET_EVERY_MS = 60_000;

/** Their events stay in the log. */
export const FINISHED_RETENTION_DAYS = 30;
const ROWS_PER_TRIM = 5_000;

/** With their journal entries, and what is known of endpoints that took nothing for a day. Returns how many. */
export const deleteFinishedDeliveries = (pool: Database, now: Date): Promise<number> =>
  inTransaction(pool, async (client) => {
    await client.query(
      `delete from delivery.endpoint where not_before < $1::timestamptz - interval '1 day'`,
      [now.toISOString()],
    );
    const { rows } = await client.query<{ delivery_id: string }>(
      `with ended_by as (select $1::timestamptz - $2 * interval '1 day' as at)
       delete from delivery.delivery where delivery_id in (
         select delivery_id from delivery.delivery d, ended_by
         where d.queued_at < ended_by.at
           and not exists (select from delivery.due u where u.delivery_id = d.delivery_id)
           and not exists (select from delivery.held h where h.delivery_id = d.delivery_id)
           and not exists (
             select from delivery.journal j where j.delivery_id = d.delivery_id and j.at >= ended_by.at)
         order by d.queued_at limit $3)
       returning delivery_id`,
      [now.toISOString(), FINISHED_RETENTION_DAYS, ROWS_PER_TRIM],
    );
    const ids = rows.map(({ delivery_id }) => delivery_id);
    for (const table of ['journal', 'unrecorded']) {
      await client.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [ids]);
    }
    return ids.length;
  });

export type LeaderTaskDependencies = {
  readonly pool: Database;
  readonly databaseUrl: string;
  readonly eventStore: EventStore;
  readonly secrets: SecretVault;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Best effort: the workers' sweeps find each lost delivery. */
  readonly publish: (queued: readonly QueuedDelivery[]) => void;
  /** Called when this process begins and ends to lead. */
  readonly leads: (leads: boolean) => void;
};

/** Repeats at once when `work` returns true, else after `everyMs`. Logs errors. */
const repeat = async (
  { log }: LeaderTaskDependencies,
  signal: AbortSignal,
  what: string,
  everyMs: number,
  work: () => Promise<boolean>,
): Promise<void> => {
  while (!signal.aborted) {
    let isMore = false;
    try {
      isMore = await work();
    } catch (error) {
      if (!signal.aborted)
        log.warn({ reason: (error as Error).message, what }, 'leader task failed; retrying');
    }
    if (!isMore) await pause(everyMs, signal);
  }
};

const keep = (dependencies: LeaderTaskDependencies, signal: AbortSignal): Promise<unknown> => {
  const { pool, eventStore, secrets, clock, log, publish } = dependencies;
  return Promise.all([
    repeat(dependencies, signal, 'publish events', RECORD_EVERY_MS, () =>
      publishBatch(pool, eventStore, log),
    ),
    repeat(dependencies, signal, 'suspend failing endpoints', GIVE_UP_EVERY_MS, async () => {
      publish(await suspendFailingEndpoints(dependencies));
      return false;
    }),
    repeat(dependencies, signal, 'forget unused signing secrets', FORGET_EVERY_MS, async () => {
      await forgetUnusedSecrets(eventStore, secrets);
      return false;
    }),
    repeat(
      dependencies,
      signal,
      'apply retention',
      TRIM_EVERY_MS,
      async () => (await deleteFinishedDeliveries(pool, clock.now())) > 0,
    ),
  ]);
};

/**
 * Each transaction proves the lease; appends have an expected revision and derived ids. The deletion of secrets needs
 * no proof: it would be right in any process.
 */
export const runLeaderTasks = (dependencies: LeaderTaskDependencies): Promise<void> => {
  const { databaseUrl, log, signal } = dependencies;
  return runAsLeader({
    databaseUrl,
    kind: ROLE,
    log,
    signal,
    run: async (leading, lease) => {
      const pool = withProof(dependencies.pool, (client) => proveLease(client, lease));
      dependencies.leads(true);
      try {
        await keep({ ...dependencies, pool }, leading);
      } finally {
        dependencies.leads(false);
      }
    },
  });
};
