import { type Clock, pause } from '#platform/clock.ts';
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
import { HELD_MAX, LOAD_MAX, openLanes } from './endpoint-queues.ts';
import { afterAttempt } from './retry-schedule.ts';
import type { Send } from './send.ts';
import { openSettleQueue } from './attempt-writer.ts';

/** Asked to end, a worker waits so long for answers; what it then leaves is sent again when its lease has run out. */
const CLOSE_LIMIT_MS = 4_000;

export type WorkerOptions = {
  readonly pool: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly workerId: string;
  readonly send: Send;
  /** 0 to 1, for the jitter of the schedule. */
  readonly chance: () => number;
};

export type Worker = {
  /** Claims what of these is due and nobody's, and sees to it. Resolves once they are claimed, not once sent. */
  take(deliveryIds: readonly string[]): Promise<void>;
  /** Resolves when there is room for more. */
  hasCapacity(): Promise<void>;
  /** Endpoints with more due than this worker has room for. */
  overflowed(): readonly string[];
  /** Resolves when everything taken is sent and written down. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

/** Sends what it is given, each with its endpoint's limits, and writes down what came of it. */
export const openWorker = ({ pool, clock, log, workerId, send, chance }: WorkerOptions): Worker => {
  const ending = new AbortController();
  /** Claimed and not written down yet, with the time of the claim. */
  const held = new Map<string, number>();
  let wakes: (() => void)[] = [];

  const letGo = (deliveryIds: readonly string[]): void => {
    for (const deliveryId of deliveryIds) held.delete(deliveryId);
    const woken = wakes;
    wakes = [];
    for (const wake of woken) wake();
  };
  const settling = openSettleQueue({ pool, clock, log, signal: ending.signal }, letGo);

  const attempt = async (delivery: ClaimedDelivery): Promise<boolean> => {
    const { deliveryId, workspaceId, alertId, target, attempts, attemptsBefore } = delivery;
    const at = clock.now().toISOString();
    try {
      const sent = await send(delivery);
      if ('cancelled' in sent) {
        settling.add({ deliveryId, cancelled: sent.cancelled });
        deliveryAttempts.inc({ channel: target.channel, class: 'cancelled' });
        return true;
      }
      meterAttempt(target.channel, sent.failure ?? 'delivered', sent.duration_ms / 1_000);
      const next = afterAttempt(sent, attempts - attemptsBefore + 1, clock.now(), chance());
      settling.add({
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
      // Ours, not the receiver's: no attempt was made. Should this fail too, the claim runs out.
      log.warn({ err: error, delivery_id: deliveryId }, 'a delivery could not be prepared; it is put off');
      await putOffClaim(pool, workerId, deliveryId, clock.now()).catch(() => undefined);
      letGo([deliveryId]);
      return true;
    }
  };

  const refill = async (endpoint: string, dependencies: number): Promise<void> => {
    try {
      await take(await dueOfEndpoint(pool, endpoint, clock.now(), dependencies));
    } catch (error) {
      log.warn({ err: error }, 'could not look for more of an endpoint');
    }
  };
  const lanes = openLanes({
    attempt,
    hasCapacity: (endpoint, dependencies) => void refill(endpoint, dependencies),
  });

  const take = async (deliveryIds: readonly string[]): Promise<void> => {
    const wanted = [...new Set(deliveryIds)].filter((deliveryId) => !held.has(deliveryId));
    if (wanted.length === 0 || ending.signal.aborted) return;
    const claimed = await claim(pool, workerId, wanted, clock.now(), (delivery_id, error) =>
      log.error({ err: error, delivery_id }, 'a delivery cannot be read; it is put off'),
    );
    const since = performance.now();
    for (const { deliveryId } of claimed) held.set(deliveryId, since);
    const refused = lanes.offer(claimed);
    if (refused.length === 0) return;
    const ids = refused.map(({ deliveryId }) => deliveryId);
    letGo(ids);
    await releaseClaims(pool, workerId, ids);
    // Only now are they to be found again by whoever has room.
    lanes.gaveBack(new Set(refused.map(({ endpoint }) => endpoint)));
  };

  const extend = async (): Promise<void> => {
    const old = performance.now() - CLAIM_EXTEND_MS;
    const ids = [...held].flatMap(([deliveryId, since]) => (since < old ? [deliveryId] : []));
    if (ids.length === 0) return;
    const ours = await extendClaims(pool, workerId, ids, clock.now());
    // Cancelled or taken over while they waited here. Those on their way are on their way.
    const gone = new Set(ids.filter((deliveryId) => !ours.has(deliveryId)));
    const dropped = lanes.waiting().flatMap(({ deliveryId }) => (gone.has(deliveryId) ? [deliveryId] : []));
    lanes.drop(new Set(dropped));
    letGo(dropped);
  };
  const extending = setInterval(() => {
    extend().catch((error: unknown) => log.warn({ err: error }, 'claims could not be extended'));
  }, CLAIM_EXTEND_MS);

  const wakened = (): Promise<void> => new Promise((resolve) => wakes.push(resolve));

  return {
    take,
    hasCapacity: async () => {
      const isFull = (): boolean => lanes.load() >= LOAD_MAX || held.size >= HELD_MAX;
      while (isFull() && !ending.signal.aborted) await wakened();
    },
    overflowed: () => lanes.overflowed(),
    idle: async () => {
      while (held.size > 0) await wakened();
    },
    close: async () => {
      clearInterval(extending);
      const waiting = lanes.waiting().map(({ deliveryId }) => deliveryId);
      const limit = pause(CLOSE_LIMIT_MS, ending.signal);
      await Promise.race([lanes.close().then(() => settling.close()), limit]);
      ending.abort();
      letGo([]);
      await releaseClaims(pool, workerId, waiting).catch(() => undefined);
    },
  };
};
