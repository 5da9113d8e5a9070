import { type Clock, pause } from '#platform/clock.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import {
  claim,
  CLAIM_EXTEND_MS,
  type ClaimedDelivery,
  EMAIL_GROUP,
  EMAILS_IN_FLIGHT_MAX,
  extendClaims,
  findDueEndpoints,
  groupOf,
  putOffClaim,
} from '#application/delivery-outbox/claim.ts';
import { ENDPOINT_PREFIX } from '#application/delivery-outbox/target.ts';
import { ENDPOINT_PAUSE_MS, pausedEndpoints } from '#application/delivery-outbox/record-attempts.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { deliveryAttempts, meterAttempt } from '#platform/telemetry/metrics.ts';
import { createAttemptWriter } from './attempt-writer.ts';
import { afterAttempt } from './retry-schedule.ts';
import type { Send } from './send.ts';

/** Sends of a process. An endpoint has a small share of them, so one that hangs blocks only its own. */
const IN_FLIGHT_MAX = 512;
/** A workspace with many receivers that hang cannot use up all places. */
const IN_FLIGHT_OF_WORKSPACE_MAX = 256;
/** Payloads in memory. The last claim can exceed it by CLAIMED_AT_ONCE_MAX payloads. */
const IN_FLIGHT_MAX_BYTES = 64 * 1024 ** 2;
const CLAIMED_AT_ONCE_MAX = 128;
const ENDPOINTS_PER_CLAIM = 16;
/** Pause after a claim that left due deliveries for lack of places: a claim of few costs as much as one of many. */
const PLACES_GATHER_MS = 10;
/** Further endpoints are left to the next sweep. */
const ENDPOINTS_WAITING_MAX = 10_000;
/** Sweeps find retries, expired leases and what notices missed. */
const SWEEP_EVERY_MS = 2_000;
/** Unfinished sends are repeated after their lease has expired. */
const CLOSE_LIMIT_MS = 4_000;

export type WorkerOptions = {
  readonly pool: Database;
  readonly clock: Clock;
  /** Time of claims. Absent: the clock of Postgres. */
  readonly claimClock?: Clock;
  readonly log: Log;
  readonly workerId: string;
  readonly send: Send;
  readonly chance: () => number;
  /** One process sends e-mails, so that their places hold over all. */
  readonly mayEmail: () => boolean;
};

export type Worker = {
  /** Claims and sends what is due at the endpoints, as soon as there are places. */
  readonly due: (endpoints: readonly string[]) => void;
  /** Looks for due deliveries in the tables. Returns how many were claimed; ends early when all places are taken. */
  sweep(): Promise<number>;
  /** Resolves when nothing claimed is left to record. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

export const openWorker = (options: WorkerOptions): Worker => {
  const { pool, clock, claimClock, log, workerId, send, chance, mayEmail } = options;
  const claimNow = (): Date | null => claimClock?.now() ?? null;
  const ending = new AbortController();
  /** By delivery id, until the result is recorded. */
  const held = new Map<string, { readonly endpoint: string; readonly since: number }>();
  /** Sends that have not ended: of all, of each group, and the bytes of their payloads. */
  let inFlight = 0;
  const inFlightOf = new Map<string, number>();
  let bytes = 0;
  /** Endpoints to look at in the tables, oldest first, with the group for whose places each waits. */
  const waiting = new Map<string, string | null>();
  /** Endpoints with all places taken: more may be due once a send is recorded. */
  let full = new Set<string>();
  const released = createWakeSignal();
  let isClosed = false;

  const countSend = (delivery: ClaimedDelivery, by: 1 | -1): void => {
    const group = groupOf(delivery);
    const ofGroup = (inFlightOf.get(group) ?? 0) + by;
    if (ofGroup > 0) inFlightOf.set(group, ofGroup);
    else inFlightOf.delete(group);
    inFlight += by;
    bytes += by * delivery.payload.length;
  };
  const wait = (endpoint: string): unknown =>
    waiting.set(endpoint, endpoint.startsWith(ENDPOINT_PREFIX.email) ? EMAIL_GROUP : null);
  const release = (deliveryIds: readonly string[]): void => {
    for (const deliveryId of deliveryIds) {
      const endpoint = held.get(deliveryId)?.endpoint;
      held.delete(deliveryId);
      if (endpoint !== undefined && full.delete(endpoint)) wait(endpoint);
    }
    serveSoon();
    released.notify();
  };
  const attemptWriter = createAttemptWriter(
    { pool, claimNow, log, workerId, signal: ending.signal },
    {
      written: (attempts) => {
        release(attempts.map(({ deliveryId }) => deliveryId));
        const paused = pausedEndpoints(attempts).map(({ endpoint }) => endpoint);
        if (paused.length > 0) setTimeout(() => due(paused), ENDPOINT_PAUSE_MS).unref();
      },
      isAwaited: () => full.size > 0,
    },
  );

  const putOff = async (deliveryId: string): Promise<void> => {
    // If this write fails too, the lease expires.
    await putOffClaim(pool, workerId, deliveryId, claimNow()).catch(() => undefined);
    release([deliveryId]);
  };
  const attempt = async (delivery: ClaimedDelivery): Promise<void> => {
    const { deliveryId, workspaceId, alertId, endpoint, target, attempts, attemptsBefore } = delivery;
    const at = clock.now().toISOString();
    countSend(delivery, 1);
    try {
      const sent = await send(delivery).finally(() => countSend(delivery, -1));
      serveSoon();
      if ('cancelled' in sent) {
        await cancelDeliveries(pool, [deliveryId], sent.cancelled, clock.now(), workerId);
        deliveryAttempts.inc({ channel: target.channel, class: 'cancelled' });
        release([deliveryId]);
        return;
      }
      meterAttempt(target.channel, sent.failure ?? 'delivered', sent.duration_ms / 1_000);
      const next = afterAttempt(sent, attempts - attemptsBefore + 1, clock.now(), chance());
      attemptWriter.add({
        deliveryId,
        workspaceId,
        alertId,
        channel: target.channel,
        endpoint,
        attempt: attempts + 1,
        attemptedAt: at,
        outcome: next.outcome,
        nextAttemptAt: next.nextAttemptAt?.toISOString() ?? null,
        sent,
      });
    } catch (error) {
      // An error on our side: no attempt was made.
      log.warn({ err: error, delivery_id: deliveryId }, 'delivery preparation failed; postponed');
      await putOff(deliveryId);
    }
  };

  const placesOf = (group: string): number => {
    const count = inFlightOf.get(group) ?? 0;
    if (group !== EMAIL_GROUP) return IN_FLIGHT_OF_WORKSPACE_MAX - count;
    return mayEmail() ? EMAILS_IN_FLIGHT_MAX - count : 0;
  };
  const places = (): number =>
    isClosed || bytes >= IN_FLIGHT_MAX_BYTES ? 0 : Math.min(CLAIMED_AT_ONCE_MAX, IN_FLIGHT_MAX - inFlight);

  /** Endpoints that could not have all they asked for wait behind the others. */
  const claimOnce = async (endpoints: readonly string[]): Promise<number> => {
    for (const endpoint of endpoints) waiting.delete(endpoint);
    const claimed = await claim(pool, {
      workerId,
      now: claimNow(),
      endpoints,
      places: places(),
      groupPlaces: IN_FLIGHT_OF_WORKSPACE_MAX,
      groups: new Map([...inFlightOf.keys(), EMAIL_GROUP].map((group) => [group, placesOf(group)])),
    });
    for (const { endpoint, group } of claimed.left) waiting.set(endpoint, group);
    for (const endpoint of claimed.full) full.add(endpoint);
    for (const { deliveryId, error } of claimed.unreadable) {
      log.error({ err: error, delivery_id: deliveryId }, 'delivery unreadable; postponed');
      void putOff(deliveryId);
    }
    for (const delivery of claimed.deliveries) {
      // The lease of a send that is still under way has expired.
      if (held.has(delivery.deliveryId)) continue;
      held.set(delivery.deliveryId, { endpoint: delivery.endpoint, since: performance.now() });
      void attempt(delivery);
    }
    return claimed.deliveries.length;
  };

  const nextEndpoints = (): readonly string[] => {
    const next: string[] = [];
    for (const [endpoint, group] of waiting) {
      if (group === null || placesOf(group) > 0) next.push(endpoint);
      if (next.length === ENDPOINTS_PER_CLAIM) break;
    }
    return next;
  };

  let serving: Promise<number> | null = null;
  let serveAgain = false;
  const serve = async (): Promise<number> => {
    // The caller must store the promise first.
    await Promise.resolve();
    let sum = 0;
    try {
      do {
        serveAgain = false;
        let asked = 0;
        for (let next = nextEndpoints(); next.length > 0 && places() > 0; next = nextEndpoints()) {
          const claimed = await claimOnce(next);
          sum += claimed;
          // Endpoints that are left may have places after others were claimed.
          asked = claimed > 0 ? 0 : asked + next.length;
          if (asked >= waiting.size) break;
          const hasLeft = claimed < CLAIMED_AT_ONCE_MAX && next.some((endpoint) => waiting.has(endpoint));
          if (hasLeft) await pause(PLACES_GATHER_MS, ending.signal);
        }
      } while (serveAgain && places() > 0);
      return sum;
    } finally {
      serving = null;
      released.notify();
    }
  };
  /** After an error the next sweep finds the endpoints again. */
  const serveSoon = (): void => {
    serveAgain = true;
    if (serving !== null || waiting.size === 0 || places() === 0) return;
    serving = serve();
    serving.catch((error: unknown) => log.warn({ err: error }, 'claiming deliveries failed'));
  };
  const due = (endpoints: readonly string[]): void => {
    for (const endpoint of endpoints) {
      if (waiting.size >= ENDPOINTS_WAITING_MAX) break;
      if (mayEmail() || !endpoint.startsWith(ENDPOINT_PREFIX.email)) wait(endpoint);
    }
    serveSoon();
  };

  let swept = '';
  const sweep = async (): Promise<number> => {
    let sum = 0;
    if (swept === '') full = new Set();
    do {
      const { endpoints, next } = await findDueEndpoints(pool, claimNow(), swept);
      swept = next ?? '';
      due(endpoints);
      sum += (await serving) ?? 0;
    } while (swept !== '' && places() > 0);
    return sum;
  };

  const extend = async (): Promise<void> => {
    const old = performance.now() - CLAIM_EXTEND_MS;
    const ids = [...held].flatMap(([deliveryId, { since }]) => (since < old ? [deliveryId] : []));
    if (ids.length > 0) await extendClaims(pool, workerId, ids, claimNow());
  };
  const extending = setInterval(() => {
    extend().catch((error: unknown) => log.warn({ err: error }, 'claim renewal failed'));
  }, CLAIM_EXTEND_MS);

  const isIdle = (): boolean => held.size === 0 && serving === null;
  const idle = async (): Promise<void> => {
    while (!isIdle()) await released.next();
  };
  return {
    due,
    sweep,
    idle,
    close: async () => {
      isClosed = true;
      const limit = pause(CLOSE_LIMIT_MS, ending.signal);
      await Promise.race([idle().then(() => attemptWriter.close()), limit]);
      clearInterval(extending);
      ending.abort();
    },
  };
};

/** Until aborted. Logs errors and goes on. */
export const sweepRegularly = async (
  worker: Pick<Worker, 'sweep'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await worker.sweep();
    } catch (error) {
      if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'sweep failed; retrying');
    }
    await pause(SWEEP_EVERY_MS, signal);
  }
};
