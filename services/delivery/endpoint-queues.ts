import { LRUCache } from 'lru-cache';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';

/**
 * Maximum deliveries being sent at once by this process. Each endpoint has a small share of these slots, and a
 * failing one a smaller share, so an endpoint that hangs blocks only its own share.
 */
export const IN_FLIGHT_MAX = 512;
/** Maximum retries among them. The remaining slots are reserved for first attempts. */
export const RETRIES_IN_FLIGHT_MAX = 256;
const IN_FLIGHT_OF = { webhook: 16, chat: 1, email: 4 } as const;
/** Maximum concurrent sends to a webhook whose last attempt failed. */
const IN_FLIGHT_OF_FAILING = 2;
/**
 * Maximum queued deliveries per endpoint, and per failing endpoint. Further ones stay in Postgres until there is
 * capacity.
 */
const WAITING_PER_ENDPOINT = 512;
const WAITING_OF_FAILING = 16;
/**
 * Maximum queued deliveries of one endpoint that count as load, so that an endpoint that hangs does not stop
 * fetching for the others.
 */
const COUNTED_PER_ENDPOINT = 64;
/**
 * LOAD_MAX: load at which no more deliveries are fetched. HELD_MAX: the same limit for all deliveries held, counted
 * or not.
 */
export const LOAD_MAX = 1_536;
export const HELD_MAX = 8_192;
const FAILING_REMEMBERED_MAX = 10_000;
/** Blocked queues that are retried for each slot that becomes free. */
const BLOCKED_TRIED = 16;

type EndpointQueue = {
  readonly endpoint: string;
  readonly first: ClaimedDelivery[];
  readonly retries: ClaimedDelivery[];
  inFlight: number;
  /** True when more deliveries of this endpoint are due in Postgres. */
  overflowed: boolean;
};

export type EndpointQueueOptions = {
  /** Sends once and records the outcome. Returns whether the delivery arrived. Never rejects. */
  readonly attempt: (delivery: ClaimedDelivery) => Promise<boolean>;
  /** Called when an endpoint that exceeded its limit can accept deliveries again. */
  readonly hasCapacity: (endpoint: string, capacity: number) => void;
};

export type EndpointQueues = {
  /** Returns the deliveries that were not accepted; release their claims, then call `gaveBack`. */
  offer(deliveries: readonly ClaimedDelivery[]): readonly ClaimedDelivery[];
  /** Marks endpoints with more due deliveries in Postgres. `hasCapacity` is called once they can accept more. */
  gaveBack(endpoints: Iterable<string>): void;
  /** Returns the number of queued deliveries that will be sent soon. */
  load(): number;
  /** Returns the deliveries that are queued and not being sent. */
  waiting(): readonly ClaimedDelivery[];
  /** Removes queued deliveries. */
  drop(deliveryIds: ReadonlySet<string>): void;
  /** Returns the endpoints with more due deliveries than this process can queue. */
  overflowed(): readonly string[];
  /** Stops sending. Resolves when the sends in flight have ended; queued deliveries stay unsent. */
  close(): Promise<void>;
};

const waitingCount = ({ first, retries }: EndpointQueue): number => first.length + retries.length;

const isRetry = ({ attempts, attemptsBefore }: ClaimedDelivery): boolean => attempts > attemptsBefore;

export const createEndpointQueues = ({ attempt, hasCapacity }: EndpointQueueOptions): EndpointQueues => {
  const queues = new Map<string, EndpointQueue>();
  /** Queues that only need a free slot, in the order in which they became blocked. */
  const blocked = new Set<EndpointQueue>();
  const failing = new LRUCache<string, true>({ max: FAILING_REMEMBERED_MAX });
  let inFlight = 0;
  let retriesInFlight = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  const limitOf = (queue: EndpointQueue, { target }: ClaimedDelivery): number =>
    target.channel === 'webhook' && failing.has(queue.endpoint)
      ? IN_FLIGHT_OF_FAILING
      : IN_FLIGHT_OF[target.channel];

  const capacityOf = (endpoint: string): number =>
    failing.has(endpoint) ? WAITING_OF_FAILING : WAITING_PER_ENDPOINT;

  /** Removes and returns the next delivery of a queue that may send now. First attempts go before retries. */
  const next = (queue: EndpointQueue): ClaimedDelivery | undefined => {
    if (closed || inFlight >= IN_FLIGHT_MAX) return undefined;
    const canRetry = retriesInFlight < RETRIES_IN_FLIGHT_MAX;
    const list = queue.first.length > 0 || !canRetry ? queue.first : queue.retries;
    const head = list[0];
    return head === undefined || queue.inFlight >= limitOf(queue, head) ? undefined : list.shift();
  };

  const send = async (queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> => {
    const retries = isRetry(delivery) ? 1 : 0;
    queue.inFlight += 1;
    inFlight += 1;
    retriesInFlight += retries;
    const arrived = await attempt(delivery);
    if (arrived) failing.delete(queue.endpoint);
    else failing.set(queue.endpoint, true);
    queue.inFlight -= 1;
    inFlight -= 1;
    retriesInFlight -= retries;
    start(queue);
    // A queue that still cannot send moves to the end of the set. Without the bound this loop would reach it again.
    let tries = Math.min(BLOCKED_TRIED, blocked.size);
    for (const other of blocked) {
      if (tries === 0 || inFlight >= IN_FLIGHT_MAX) break;
      tries -= 1;
      start(other);
    }
    if (closed && inFlight === 0) idle.resolve();
  };

  const start = (queue: EndpointQueue): void => {
    for (let delivery = next(queue); delivery !== undefined; delivery = next(queue))
      void send(queue, delivery);
    const waits = waitingCount(queue);
    // Moves to the end of the set, so that queues blocked earlier are served first.
    blocked.delete(queue);
    if (waits > 0 && queue.inFlight === 0) blocked.add(queue);
    else if (waits > 0 && inFlight >= IN_FLIGHT_MAX) blocked.add(queue);
    if (waits > 0) return;
    if (queue.overflowed) {
      queue.overflowed = false;
      hasCapacity(queue.endpoint, capacityOf(queue.endpoint));
    }
    if (queue.inFlight === 0) queues.delete(queue.endpoint);
  };

  return {
    offer: (deliveries) => {
      const refused: ClaimedDelivery[] = [];
      for (const delivery of deliveries) {
        const { endpoint } = delivery;
        let queue = queues.get(endpoint);
        if (!queue) {
          queue = { endpoint, first: [], retries: [], inFlight: 0, overflowed: false };
          queues.set(endpoint, queue);
        }
        if (waitingCount(queue) >= capacityOf(endpoint)) {
          refused.push(delivery);
          continue;
        }
        (isRetry(delivery) ? queue.retries : queue.first).push(delivery);
        start(queue);
      }
      return refused;
    },
    gaveBack: (endpoints) => {
      for (const endpoint of endpoints) {
        const queue = queues.get(endpoint);
        if (queue && waitingCount(queue) > 0) queue.overflowed = true;
        else hasCapacity(endpoint, capacityOf(endpoint));
      }
    },
    load: () => {
      let load = 0;
      for (const queue of queues.values()) {
        if (!failing.has(queue.endpoint)) load += Math.min(COUNTED_PER_ENDPOINT, waitingCount(queue));
      }
      return load;
    },
    waiting: () => [...queues.values()].flatMap(({ first, retries }) => [...first, ...retries]),
    drop: (deliveryIds) => {
      for (const queue of queues.values()) {
        for (const list of [queue.first, queue.retries]) {
          const remaining = list.filter(({ deliveryId }) => !deliveryIds.has(deliveryId));
          list.splice(0, list.length, ...remaining);
        }
        start(queue);
      }
    },
    overflowed: () =>
      [...queues.values()].filter(({ overflowed }) => overflowed).map(({ endpoint }) => endpoint),
    close: () => {
      closed = true;
      if (inFlight === 0) idle.resolve();
      return idle.promise;
    },
  };
};
