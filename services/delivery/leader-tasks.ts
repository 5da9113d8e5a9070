import { type Clock, pause } from '#platform/clock.ts';
import { publishNextEvents } from '#application/delivery-outbox/journal/publish-events.ts';
import { deleteUnusedLeases } from '#application/delivery-outbox/endpoint-leases.ts';
import { deleteFinishedDeliveries } from '#application/delivery-outbox/retention.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import { forgetUnusedSecrets } from '#application/vault/unused-secrets.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { runAsLeader } from '#platform/process/run-as-leader.ts';
import { proveLease } from '#platform/postgres/lease/prove-lease.ts';
import { type Database, withProof } from '#platform/postgres/pool.ts';
import { suspendFailingEndpoints } from './endpoints/suspend-failing-endpoints.ts';

const ROLE = 'delivery';
/** Journal entries that are not yet events are polled. */
const RECORD_EVERY_MS = 200;
const GIVE_UP_EVERY_MS = 30_000;
const TRIM_EVERY_MS = 600_000;
const FORGET_EVERY_MS = 60_000;

export type LeaderTaskDependencies = {
  readonly pool: Database;
  readonly databaseUrl: string;
  readonly eventStore: EventStore;
  readonly secrets: SecretVault;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Best effort: the workers' sweeps find each lost delivery. */
  readonly publish: (deliveryIds: readonly string[]) => void;
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
    repeat(dependencies, signal, 'publish events', RECORD_EVERY_MS, async () => {
      const { isMore, refused } = await publishNextEvents(pool, eventStore);
      for (const { entry, reason } of refused)
        log.error({ delivery_id: entry.delivery_id, type: entry.type, reason }, 'delivery event set aside');
      return isMore;
    }),
    repeat(dependencies, signal, 'suspend failing endpoints', GIVE_UP_EVERY_MS, async () => {
      publish(await suspendFailingEndpoints(dependencies));
      return false;
    }),
    repeat(dependencies, signal, 'forget unused signing secrets', FORGET_EVERY_MS, async () => {
      await forgetUnusedSecrets(eventStore, secrets);
      return false;
    }),
    repeat(dependencies, signal, 'apply retention', TRIM_EVERY_MS, async () => {
      const deleted = await deleteFinishedDeliveries(pool, clock.now());
      return deleted + (await deleteUnusedLeases(pool)) > 0;
    }),
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
      await keep({ ...dependencies, pool }, leading);
    },
  });
};
