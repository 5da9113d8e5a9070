import { type Clock, pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import {
  claim,
  CLAIM_EXTEND_MS,
  type Claimant,
  type Claimed,
  claimOfEndpoints,
  type ClaimedDelivery,
  extendClaims,
  type EndpointPlaces,
  putOffClaim,
  releaseClaims,
} from '#application/delivery-outbox/claim.ts';
import { dueEndpoints } from '#application/delivery-outbox/due.ts';
import { isEmailEndpoint, leaseKeyOf } from '#application/delivery-outbox/target.ts';
import type { Log } from '#platform/logger.ts';
import { deliveryAttempts, meterAttempt } from '#platform/telemetry/metrics.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  createEndpointQueues,
  HELD_MAX,
  LOAD_MAX,
  WAITING_EMAILS_OF_WORKSPACE,
  WAITING_PER_ENDPOINT,
} from './endpoints/endpoint-queues.ts';
import { createEndpointTurns } from './endpoints/endpoint-turns.ts';
import { afterAttempt } from './retry-schedule.ts';
import type { Send } from './send.ts';
import { createAttemptWriter } from './attempt-writer.ts';
import { createHeldEndpoints } from './endpoints/held-endpoints.ts';

/** Unfinished sends are repeated after their lease has expired. */
const CLOSE_LIMIT_MS = 4_000;

/** Limit for an endpoint's queue when many endpoints have more due, so that they share the load. */
const WAITING_AT_A_TURN = 64;

const countByEndpoint = (deliveries: readonly ClaimedDelivery[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { endpoint } of deliveries) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
};

export type WorkerOptions = {
  readonly pool: Database;
  readonly clock: Clock;
  readonly leaseClock?: Clock;
  readonly log: Log;
  readonly workerId: string;
  readonly send: Send;
  readonly chance: () => number;
};

export type Worker = {
  /** Resolves when claimed, not when sent. Skips deliveries that are claimed or not due. */
  take(deliveryIds: readonly string[]): Promise<void>;
  /**
   * Each endpoint gets one turn, with as many deliveries as places, so that large backlogs delay no others. Ends early
   * when the worker is full. Returns how many were claimed.
   */
  sweep(): Promise<number>;
  /** Resolves also when the signal is aborted. */
  hasCapacity(signal?: AbortSignal): Promise<void>;
  overflowed(): readonly string[];
  idle(): Promise<void>;
  close(): Promise<void>;
};

export const openWorker = ({
  pool,
  clock,
  leaseClock,
  log,
  workerId,
  send,
  chance,
}: WorkerOptions): Worker => {
  const leaseNow = (): Date | null => leaseClock?.now() ?? null;
  const ending = new AbortController();
  /** By delivery id, for deliveries claimed and not yet recorded. */
  const held = new Map<string, { readonly endpoint: string; readonly since: number }>();
  const heldEndpoints = createHeldEndpoints(pool, workerId);
  const released = createWakeSignal();
  const turns = createEndpointTurns();

  const release = (deliveryIds: readonly string[]): void => {
    for (const deliveryId of deliveryIds) {
      const one = held.get(deliveryId);
      if (one === undefined) continue;
      held.delete(deliveryId);
      heldEndpoints.remove(leaseKeyOf(one.endpoint));
    }
    heldEndpoints.releaseEmpty();
    if (stoppedFull && !isFull()) serveSoon();
    released.notify();
  };
  const attemptWriter = createAttemptWriter({ pool, clock, log, workerId, signal: ending.signal }, release);

  const attempt = async (delivery: ClaimedDelivery): Promise<boolean | null> => {
    const { deliveryId, workspaceId, alertId, target, attempts, attemptsBefore } = delivery;
    const at = clock.now().toISOString();
    try {
      const sent = await send(delivery);
      if ('cancelled' in sent) {
        attemptWriter.add({ deliveryId, cancelled: sent.cancelled });
        deliveryAttempts.inc({ channel: target.channel, class: 'cancelled' });
        return null;
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
      await putOffClaim(pool, workerId, deliveryId, leaseNow()).catch(() => undefined);
      release([deliveryId]);
      return null;
    }
  };

  const claimant = (): Claimant => ({
    workerId,
    now: clock.now(),
    leaseNow: leaseNow(),
    unreadable: (delivery_id, error) =>
      log.error({ err: error, delivery_id }, 'delivery unreadable; postponed'),
  });
  const isFull = (): boolean => queues.load() >= LOAD_MAX || held.size >= HELD_MAX;

  /** An endpoint whose places are used up is refilled once its queue is half empty. */
  const queueClaimed = async (
    { endpoints: taken, deliveries: claimed }: Claimed,
    placesAt: (endpoint: string) => number,
  ): Promise<void> => {
    const since = performance.now();
    heldEndpoints.taken(taken);
    const added = claimed.filter(({ deliveryId }) => !held.has(deliveryId));
    for (const { deliveryId, endpoint } of added) {
      held.set(deliveryId, { endpoint, since });
      heldEndpoints.add(leaseKeyOf(endpoint));
    }
    heldEndpoints.releaseEmpty();
    const refused = queues.offer(added);
    if (refused.length > 0) {
      const ids = refused.map(({ deliveryId }) => deliveryId);
      release(ids);
      await releaseClaims(pool, workerId, ids);
    }
    const counts = countByEndpoint(claimed);
    const more = claimed.filter(({ endpoint }) => (counts.get(endpoint) ?? 0) >= placesAt(endpoint));
    // Only after the release can a worker with places claim them.
    queues.gaveBack(new Map([...more, ...refused].map((one) => [one.endpoint, one.workspaceId])));
  };

  /** Endpoints with fewer due than places need no further turn. */
  const claimEndpoints = async (wanted: readonly EndpointPlaces[]): Promise<number> => {
    const claimed = await claimOfEndpoints(pool, claimant(), wanted);
    const counts = countByEndpoint(claimed.deliveries);
    for (const { endpoint, places } of wanted)
      if ((counts.get(endpoint) ?? 0) < places) turns.remove(endpoint);
    const places = new Map(wanted.map((one) => [one.endpoint, one.places]));
    await queueClaimed(claimed, (endpoint) => places.get(endpoint) ?? 0);
    return claimed.deliveries.length;
  };

  const nextTurns = (served: ReadonlySet<string>): readonly EndpointPlaces[] => {
    const most = Math.max(WAITING_AT_A_TURN, Math.floor(LOAD_MAX / Math.max(1, turns.size())));
    let emailPlaces = queues.emailPlaces();
    return turns.next(HELD_MAX - held.size, (endpoint) => {
      if (served.has(endpoint)) return 0;
      const places = queues.placesAtTurn(endpoint, most);
      if (!isEmailEndpoint(endpoint)) return places;
      const shared = Math.min(places, emailPlaces);
      emailPlaces -= shared;
      return shared;
    });
  };

  /** Endpoints may still wait for their turn, because the worker was full. */
  let stoppedFull = false;
  let serving: Promise<number> | null = null;
  /** The present run may have served an endpoint that was added since. */
  let serveAgain = false;
  const serveTurns = async (): Promise<number> => {
    // The caller must store the promise first. It is removed in the step that looks for the last turn, so an endpoint
    // added later starts the next run.
    await Promise.resolve();
    const served = new Set<string>();
    stoppedFull = false;
    try {
      let count = 0;
      while (!isFull() && !ending.signal.aborted) {
        const wanted = nextTurns(served);
        if (wanted.length === 0) break;
        for (const { endpoint } of wanted) served.add(endpoint);
        count += await claimEndpoints(wanted);
      }
      stoppedFull = isFull();
      return count;
    } finally {
      serving = null;
      if (serveAgain) serveSoon();
      released.notify();
    }
  };
  /** One turn each, so that the caller does not wait for a backlog. Returns how many were claimed. */
  const serve = (): Promise<number> => {
    if (serving === null) {
      serveAgain = false;
      serving = serveTurns();
    }
    return serving;
  };
  /** Runs once more, because the present run may have served endpoints that were added since. */
  const serveAll = async (): Promise<number> => (await (serving ?? 0)) + (await serve());
  /** After the present run. An endpoint whose claim fails waits for the next sweep. */
  const serveSoon = (): void => {
    if (serving !== null) {
      serveAgain = true;
      return;
    }
    serve().catch((error: unknown) => log.warn({ err: error }, 'endpoint queue refill failed'));
  };
  const queues = createEndpointQueues({
    attempt,
    hasCapacity: (endpoint, workspaceId) => {
      turns.add(endpoint, workspaceId);
      serveSoon();
    },
    chance,
  });

  const take = async (deliveryIds: readonly string[]): Promise<void> => {
    const unclaimed = [...new Set(deliveryIds)].filter((deliveryId) => !held.has(deliveryId));
    if (unclaimed.length === 0 || ending.signal.aborted) return;
    const wanted = queues.places();
    const claimed = await claim(pool, claimant(), unclaimed, {
      wanted,
      otherPlaces: WAITING_PER_ENDPOINT,
      otherEmailPlaces: WAITING_EMAILS_OF_WORKSPACE,
    });
    const places = new Map(wanted.map((one) => [one.endpoint, one.places]));
    const otherPlaces = (endpoint: string): number =>
      isEmailEndpoint(endpoint) ? WAITING_EMAILS_OF_WORKSPACE : WAITING_PER_ENDPOINT;
    await queueClaimed(claimed, (endpoint) => places.get(endpoint) ?? otherPlaces(endpoint));
  };

  let swept = '';
  const sweep = async (): Promise<number> => {
    let count = 0;
    do {
      const { endpoints, next } = await dueEndpoints(pool, claimant(), swept);
      for (const { endpoint, workspaceId } of endpoints) turns.add(endpoint, workspaceId);
      swept = next ?? '';
      // Also while the worker is full, so that new endpoints wait for their turn like others.
      count += await serveAll();
    } while (swept !== '' && !isFull() && !ending.signal.aborted);
    return count;
  };

  const giveBack = async (deliveryIds: readonly string[]): Promise<void> => {
    if (deliveryIds.length === 0) return;
    queues.drop(new Set(deliveryIds));
    release(deliveryIds);
    await releaseClaims(pool, workerId, deliveryIds);
  };

  const extend = async (): Promise<void> => {
    const old = performance.now() - CLAIM_EXTEND_MS;
    const lostEndpoints = await heldEndpoints.extend(leaseNow());
    const waiting = queues.waiting().filter(({ endpoint }) => lostEndpoints.has(leaseKeyOf(endpoint)));
    await giveBack(waiting.map(({ deliveryId }) => deliveryId));
    const ids = [...held].flatMap(([deliveryId, { since }]) => (since < old ? [deliveryId] : []));
    if (ids.length === 0) return;
    const renewed = await extendClaims(pool, workerId, ids, leaseNow());
    // Cancelled or taken over while queued. Sends in flight are not interrupted.
    const lost = new Set(ids.filter((deliveryId) => !renewed.has(deliveryId)));
    const dropped = queues.waiting().flatMap(({ deliveryId }) => (lost.has(deliveryId) ? [deliveryId] : []));
    queues.drop(new Set(dropped));
    release(dropped);
  };
  const extending = setInterval(() => {
    extend().catch((error: unknown) => log.warn({ err: error }, 'claim renewal failed'));
  }, CLAIM_EXTEND_MS);

  const isIdle = (): boolean => held.size === 0 && serving === null;

  return {
    take,
    sweep,
    hasCapacity: async (signal) => {
      const isEnding = (): boolean => ending.signal.aborted || signal?.aborted === true;
      while (isFull() && !isEnding()) await released.next(signal ? { signal } : {});
    },
    overflowed: () => queues.overflowed(),
    idle: async () => {
      while (!isIdle()) await released.next();
      await heldEndpoints.released();
    },
    close: async () => {
      clearInterval(extending);
      const waiting = queues.waiting().map(({ deliveryId }) => deliveryId);
      const limit = pause(CLOSE_LIMIT_MS, ending.signal);
      await Promise.race([queues.close().then(() => attemptWriter.close()), limit]);
      ending.abort();
      release([]);
      await releaseClaims(pool, workerId, waiting).catch(() => undefined);
      release(waiting);
      await heldEndpoints.released();
    },
  };
};
