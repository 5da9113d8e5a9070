import { type Clock, pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import {
  claim,
  CLAIM_EXTEND_MS,
  type ClaimedDelivery,
  extendClaims,
  putOffClaim,
  releaseClaims,
} from '#application/delivery-outbox/claim.ts';
import { dueOfEndpoint } from '#application/delivery-outbox/due.ts';
import type { Log } from '#platform/logger.ts';
import { deliveryAttempts, meterAttempt } from '#platform/telemetry/metrics.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { HELD_MAX, LOAD_MAX, createEndpointQueues } from './endpoint-queues.ts';
import { afterAttempt } from './retry-schedule.ts';
import type { Send } from './send.ts';
import { createAttemptWriter } from './attempt-writer.ts';

/** Shutdown timeout for sends in flight. What is unfinished then is sent again when its lease has expired. */
const CLOSE_LIMIT_MS = 4_000;

export type WorkerOptions = {
  readonly pool: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly workerId: string;
  readonly send: Send;
  /** Random source, 0 to 1, for the jitter of retries. */
  readonly chance: () => number;
};

export type Worker = {
  /**
   * Claims the due, unclaimed deliveries among these and queues them for sending. Resolves when claimed, not when
   * sent.
   */
  take(deliveryIds: readonly string[]): Promise<void>;
  /** Resolves when the worker can take more. */
  hasCapacity(): Promise<void>;
  /** Returns the endpoints with more due deliveries than this worker can queue. */
  overflowed(): readonly string[];
  /** Resolves when everything taken is sent and recorded. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

/** Creates a worker: sends deliveries within each endpoint's limits, and records the outcomes. */
export const openWorker = ({ pool, clock, log, workerId, send, chance }: WorkerOptions): Worker => {
  const ending = new AbortController();
  /** Time of the claim by delivery id, for deliveries that are claimed and not yet recorded. */
  const held = new Map<string, number>();
  const released = createWakeSignal();

  const release = (deliveryIds: readonly string[]): void => {
    for (const deliveryId of deliveryIds) held.delete(deliveryId);
    released.notify();
  };
  const attemptWriter = createAttemptWriter({ pool, clock, log, signal: ending.signal }, release);

  const attempt = async (delivery: ClaimedDelivery): Promise<boolean> => {
    const { deliveryId, workspaceId, alertId, target, attempts, attemptsBefore } = delivery;
    const at = clock.now().toISOString();
    try {
      const sent = await send(delivery);
      if ('cancelled' in sent) {
        attemptWriter.add({ deliveryId, cancelled: sent.cancelled });
        deliveryAttempts.inc({ channel: target.channel, class: 'cancelled' });
        return true;
      }
      meterAttempt(target.channel, sent.failure ?? 'delivered', sent.duration_ms / 1_000);
      const next = afterAttempt(sent, attempts - attemptsBefore + 1, clock.now(), chance());
      attemptWriter.add({
        attempt: {
          deliveryId,
          workspaceId,
          alertId,
          channel: target.channel,
          attempt: attempts + 1,
          attemptedAt: at,
          outcome: next.outcome,
          nextAttemptAt: next.nextAttemptAt?.toISOString() ?? null,
          sent,
        },
      });
      return sent.delivered;
    } catch (error) {
      // An error on our side: no attempt was made. If this write fails too, the lease expires.
      log.warn({ err: error, delivery_id: deliveryId }, 'delivery preparation failed; postponed');
      await putOffClaim(pool, workerId, deliveryId, clock.now()).catch(() => undefined);
      release([deliveryId]);
      return true;
    }
  };

  const refill = async (endpoint: string, capacity: number): Promise<void> => {
    try {
      await take(await dueOfEndpoint(pool, endpoint, clock.now(), capacity));
    } catch (error) {
      log.warn({ err: error }, 'endpoint queue refill failed');
    }
  };
  const queues = createEndpointQueues({
    attempt,
    hasCapacity: (endpoint, capacity) => void refill(endpoint, capacity),
  });

  const take = async (deliveryIds: readonly string[]): Promise<void> => {
    const unclaimed = [...new Set(deliveryIds)].filter((deliveryId) => !held.has(deliveryId));
    if (unclaimed.length === 0 || ending.signal.aborted) return;
    const claimed = await claim(pool, workerId, unclaimed, clock.now(), (delivery_id, error) =>
      log.error({ err: error, delivery_id }, 'delivery unreadable; postponed'),
    );
    const since = performance.now();
    for (const { deliveryId } of claimed) held.set(deliveryId, since);
    const refused = queues.offer(claimed);
    if (refused.length === 0) return;
    const ids = refused.map(({ deliveryId }) => deliveryId);
    release(ids);
    await releaseClaims(pool, workerId, ids);
    // Only after the release can a worker with capacity claim them.
    queues.gaveBack(new Set(refused.map(({ endpoint }) => endpoint)));
  };

  const extend = async (): Promise<void> => {
    const old = performance.now() - CLAIM_EXTEND_MS;
    const ids = [...held].flatMap(([deliveryId, since]) => (since < old ? [deliveryId] : []));
    if (ids.length === 0) return;
    const renewed = await extendClaims(pool, workerId, ids, clock.now());
    // Cancelled or taken over while queued. Sends in flight are not interrupted.
    const lost = new Set(ids.filter((deliveryId) => !renewed.has(deliveryId)));
    const dropped = queues.waiting().flatMap(({ deliveryId }) => (lost.has(deliveryId) ? [deliveryId] : []));
    queues.drop(new Set(dropped));
    release(dropped);
  };
  const extending = setInterval(() => {
    extend().catch((error: unknown) => log.warn({ err: error }, 'claim renewal failed'));
  }, CLAIM_EXTEND_MS);

  return {
    take,
    hasCapacity: async () => {
      const isFull = (): boolean => queues.load() >= LOAD_MAX || held.size >= HELD_MAX;
      while (isFull() && !ending.signal.aborted) await released.next();
    },
    overflowed: () => queues.overflowed(),
    idle: async () => {
      while (held.size > 0) await released.next();
    },
    close: async () => {
      clearInterval(extending);
      const waiting = queues.waiting().map(({ deliveryId }) => deliveryId);
      const limit = pause(CLOSE_LIMIT_MS, ending.signal);
      await Promise.race([queues.close().then(() => attemptWriter.close()), limit]);
      ending.abort();
      release([]);
      await releaseClaims(pool, workerId, waiting).catch(() => undefined);
    },
  };
};
