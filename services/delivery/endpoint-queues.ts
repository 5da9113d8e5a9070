import { LRUCache } from 'lru-cache';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';

/**
 * Which delivery is sent when: a bounded number at once to each endpoint, fewer to one that fails, and slots that
 * retries never take. An endpoint that hangs holds its few slots and nobody else's.
 */
export const IN_FLIGHT_MAX = 512;
/** Of those, at most so many are retries: the rest is for first attempts. */
export const RETRIES_IN_FLIGHT_MAX = 256;
const IN_FLIGHT_OF = { webhook: 16, chat: 1, email: 4 } as const;
/** A webhook whose last attempt failed is asked carefully. */
const IN_FLIGHT_OF_FAILING = 2;
/** Deliveries that wait here for one endpoint, and for one that fails; what is more stays in Postgres until then. */
const WAITING_PER_ENDPOINT = 512;
const WAITING_OF_FAILING = 16;
/** Of an endpoint's waiting deliveries, so many count as load: one that hangs keeps nobody's from being fetched. */
const COUNTED_PER_ENDPOINT = 64;
/** Beyond this load nothing more is fetched, and beyond so many held whatever the load. */
export const LOAD_MAX = 1_536;
export const HELD_MAX = 8_192;
const FAILING_REMEMBERED_MAX = 10_000;
/** Lanes that are looked at for each slot that becomes free. */
const BLOCKED_TRIED = 16;

type Lane = {
  readonly endpoint: string;
  readonly first: ClaimedDelivery[];
  readonly retries: ClaimedDelivery[];
  inFlight: number;
  /** More of it is due in Postgres. */
  overflowed: boolean;
};

export type LaneOptions = {
  /** Sends once and sees to what follows; answers whether it arrived. Never rejects. */
  readonly attempt: (delivery: ClaimedDelivery) => Promise<boolean>;
  /** An endpoint that had more than its share has room again. */
  readonly hasCapacity: (endpoint: string, dependencies: number) => void;
};

export type Lanes = {
  /** Answers those that there is no room for: they are to be given back, and then `gaveBack`. */
  offer(deliveries: readonly ClaimedDelivery[]): readonly ClaimedDelivery[];
  /** Of these endpoints there is more to be fetched, once there is room. */
  gaveBack(endpoints: Iterable<string>): void;
  /** How much waits here that will be sent soon. */
  load(): number;
  /** Deliveries that wait for their turn. */
  waiting(): readonly ClaimedDelivery[];
  /** Drops some of those that wait. */
  drop(deliveryIds: ReadonlySet<string>): void;
  /** Endpoints with more due than there is room for here. */
  overflowed(): readonly string[];
  /** Resolves when nothing is being sent any more; what waits stays unsent. */
  close(): Promise<void>;
};

const waitsOf = ({ first, retries }: Lane): number => first.length + retries.length;

const isRetry = ({ attempts, attemptsBefore }: ClaimedDelivery): boolean => attempts > attemptsBefore;

export const openLanes = ({ attempt, hasCapacity }: LaneOptions): Lanes => {
  const lanes = new Map<string, Lane>();
  /** Lanes that could send if there were a slot, in the order in which they asked. */
  const blocked = new Set<Lane>();
  const failing = new LRUCache<string, true>({ max: FAILING_REMEMBERED_MAX });
  let inFlight = 0;
  let retriesInFlight = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  const limitOf = (lane: Lane, { target }: ClaimedDelivery): number =>
    target.channel === 'webhook' && failing.has(lane.endpoint)
      ? IN_FLIGHT_OF_FAILING
      : IN_FLIGHT_OF[target.channel];

  const capacityOf = (endpoint: string): number =>
    failing.has(endpoint) ? WAITING_OF_FAILING : WAITING_PER_ENDPOINT;

  /** The next of a lane that has a slot; first attempts before retries. */
  const next = (lane: Lane): ClaimedDelivery | undefined => {
    if (closed || inFlight >= IN_FLIGHT_MAX) return undefined;
    const canRetry = retriesInFlight < RETRIES_IN_FLIGHT_MAX;
    const queue = lane.first.length > 0 || !canRetry ? lane.first : lane.retries;
    const head = queue[0];
    return head === undefined || lane.inFlight >= limitOf(lane, head) ? undefined : queue.shift();
  };

  const send = async (lane: Lane, delivery: ClaimedDelivery): Promise<void> => {
    const retries = isRetry(delivery) ? 1 : 0;
    lane.inFlight += 1;
    inFlight += 1;
    retriesInFlight += retries;
    const arrived = await attempt(delivery);
    if (arrived) failing.delete(lane.endpoint);
    else failing.set(lane.endpoint, true);
    lane.inFlight -= 1;
    inFlight -= 1;
    retriesInFlight -= retries;
    start(lane);
    // One that still cannot send goes to the end of the set, and would be met again.
    let tries = Math.min(BLOCKED_TRIED, blocked.size);
    for (const other of blocked) {
      if (tries === 0 || inFlight >= IN_FLIGHT_MAX) break;
      tries -= 1;
      start(other);
    }
    if (closed && inFlight === 0) idle.resolve();
  };

  const start = (lane: Lane): void => {
    for (let delivery = next(lane); delivery !== undefined; delivery = next(lane)) void send(lane, delivery);
    const waits = waitsOf(lane);
    // Behind those that asked before, so that nobody is passed over.
    blocked.delete(lane);
    if (waits > 0 && lane.inFlight === 0) blocked.add(lane);
    else if (waits > 0 && inFlight >= IN_FLIGHT_MAX) blocked.add(lane);
    if (waits > 0) return;
    if (lane.overflowed) {
      lane.overflowed = false;
      hasCapacity(lane.endpoint, capacityOf(lane.endpoint));
    }
    if (lane.inFlight === 0) lanes.delete(lane.endpoint);
  };

  return {
    offer: (deliveries) => {
      const refused: ClaimedDelivery[] = [];
      for (const delivery of deliveries) {
        const { endpoint } = delivery;
        let lane = lanes.get(endpoint);
        if (!lane) {
          lane = { endpoint, first: [], retries: [], inFlight: 0, overflowed: false };
          lanes.set(endpoint, lane);
        }
        if (waitsOf(lane) >= capacityOf(endpoint)) {
          refused.push(delivery);
          continue;
        }
        (isRetry(delivery) ? lane.retries : lane.first).push(delivery);
        start(lane);
      }
      return refused;
    },
    gaveBack: (endpoints) => {
      for (const endpoint of endpoints) {
        const lane = lanes.get(endpoint);
        if (lane && waitsOf(lane) > 0) lane.overflowed = true;
        else hasCapacity(endpoint, capacityOf(endpoint));
      }
    },
    load: () => {
      let load = 0;
      for (const lane of lanes.values()) {
        if (!failing.has(lane.endpoint)) load += Math.min(COUNTED_PER_ENDPOINT, waitsOf(lane));
      }
      return load;
    },
    waiting: () => [...lanes.values()].flatMap(({ first, retries }) => [...first, ...retries]),
    drop: (deliveryIds) => {
      for (const lane of lanes.values()) {
        for (const queue of [lane.first, lane.retries]) {
          const kept = queue.filter(({ deliveryId }) => !deliveryIds.has(deliveryId));
          queue.splice(0, queue.length, ...kept);
        }
        start(lane);
      }
    },
    overflowed: () =>
      [...lanes.values()].filter(({ overflowed }) => overflowed).map(({ endpoint }) => endpoint),
    close: () => {
      closed = true;
      if (inFlight === 0) idle.resolve();
      return idle.promise;
    },
  };
};
