import type { ClaimedDelivery, EndpointPlaces } from '#application/delivery-outbox/claim.ts';
import { EMAIL_LEASE, isEmailEndpoint } from '#application/delivery-outbox/target.ts';
import { createEndpointPacing } from './endpoint-pacing.ts';

/** An endpoint has a small share of these sends and a failing one a smaller, so one that hangs blocks only its own. */
export const IN_FLIGHT_MAX = 512;
export const RETRIES_IN_FLIGHT_MAX = 256;
/** Per endpoint; for e-mail, of all workspaces together. */
const IN_FLIGHT_OF = { webhook: 16, chat: 1, email: 4 } as const;
/** A workspace with many receivers that hang cannot use up all slots. E-mail has a limit of its own. */
export const IN_FLIGHT_OF_WORKSPACE_MAX = 128;
/** Queued deliveries. Further ones stay in Postgres. */
export const WAITING_PER_ENDPOINT = 512;
const WAITING_OF_FAILING = 16;
/** Queued e-mails, limited so that a slow mail server does not fill the process. */
export const WAITING_EMAILS_OF_WORKSPACE = 16;
const WAITING_EMAILS_MAX = 512;
/** Deliveries of an endpoint that count as load, so that one that hangs does not stop fetching for others. */
const COUNTED_PER_ENDPOINT = 64;
/** Also limits all endpoints of a workspace. */
const COUNTED_PER_WORKSPACE = 512;
/** LOAD_MAX: no more deliveries are fetched. HELD_MAX: the same for all deliveries held, counted or not. */
export const LOAD_MAX = 1_536;
export const HELD_MAX = 8_192;
/** A claim of a few deliveries costs as much as one of hundreds, so this share of places must be free. */
const FREE_AT_TURN = 0.5;
/** Blocked queues retried for each free slot. */
const BLOCKED_TRIED = 16;

type EndpointQueue = {
  readonly endpoint: string;
  readonly workspaceId: string;
  readonly first: ClaimedDelivery[];
  readonly retries: ClaimedDelivery[];
  inFlight: number;
  /** `hasCapacity` is called at or below this, because more deliveries are due in Postgres; `null` when none are. */
  refillAt: number | null;
  /** The set of blocked queues that it is in. */
  blockedIn: Set<EndpointQueue> | null;
  timer: NodeJS.Timeout | null;
};

export type EndpointQueueOptions = {
  /** Returns whether the delivery arrived; `null` when nothing was sent. Never rejects. */
  readonly attempt: (delivery: ClaimedDelivery) => Promise<boolean | null>;
  /** The queue of an endpoint with more due deliveries is half empty. `workspaceId`: of its first delivery. */
  readonly hasCapacity: (endpoint: string, workspaceId: string) => void;
  readonly chance: () => number;
};

export type EndpointQueues = {
  /** At each endpoint with a queue. Claim no more than these. */
  places(): readonly EndpointPlaces[];
  /**
   * 0 while more than half of the queue is full; `hasCapacity` is called once it is not. `most`: waiting deliveries.
   */
  placesAtTurn(endpoint: string, most: number): number;
  emailPlaces(): number;
  /** Returns the deliveries that were not accepted; release their claims, then call `gaveBack`. */
  offer(deliveries: readonly ClaimedDelivery[]): readonly ClaimedDelivery[];
  /** `endpoints` with more due in Postgres, each with a workspace. `hasCapacity` follows once they can accept it. */
  gaveBack(endpoints: ReadonlyMap<string, string>): void;
  load(): number;
  waiting(): readonly ClaimedDelivery[];
  drop(deliveryIds: ReadonlySet<string>): void;
  overflowed(): readonly string[];
  /** Resolves when the sends in flight have ended; queued deliveries stay unsent. */
  close(): Promise<void>;
};

const waitingCount = ({ first, retries }: EndpointQueue): number => first.length + retries.length;

const isRetry = ({ attempts, attemptsBefore }: ClaimedDelivery): boolean => attempts > attemptsBefore;

/** Its workspace, or all e-mail, shares a limit of concurrent sends. */
const groupOf = ({ target, workspaceId }: ClaimedDelivery): string =>
  target.channel === 'email' ? EMAIL_LEASE : workspaceId;

export const createEndpointQueues = ({
  attempt,
  hasCapacity,
  chance,
}: EndpointQueueOptions): EndpointQueues => {
  const queues = new Map<string, EndpointQueue>();
  /** They only need a free slot. In the order in which they became blocked. */
  const blocked = new Set<EndpointQueue>();
  /** By group: their next delivery waits for it. */
  const blockedByGroup = new Map<string, Set<EndpointQueue>>();
  const ofGroups = new Map<string, number>();
  let emailsWaiting = 0;
  /** Window and pause are those of webhooks: all e-mail shares one mail server, and a chat has a window of one. */
  const pacing = createEndpointPacing(IN_FLIGHT_OF.webhook, chance);
  let inFlight = 0;
  let retriesInFlight = 0;
  let closed = false;
  const idle = Promise.withResolvers<void>();

  const limitOf = ({ target, endpoint }: ClaimedDelivery): number =>
    target.channel === 'webhook' ? pacing.windowOf(endpoint) : IN_FLIGHT_OF[target.channel];

  const pauseOf = ({ target, endpoint }: ClaimedDelivery): number =>
    target.channel === 'webhook' ? pacing.pauseOf(endpoint) : 0;

  const emailPlaces = (): number => WAITING_EMAILS_MAX - emailsWaiting;
  const capacityOf = (endpoint: string): number => {
    if (pacing.isFailing(endpoint)) return WAITING_OF_FAILING;
    return isEmailEndpoint(endpoint) ? WAITING_EMAILS_OF_WORKSPACE : WAITING_PER_ENDPOINT;
  };
  const placesAt = (endpoint: string, capacity: number, waits: number): number => {
    const places = Math.max(0, capacity - waits);
    return isEmailEndpoint(endpoint) ? Math.min(places, emailPlaces()) : places;
  };

  /** First attempts go before retries. */
  const nextList = ({ first, retries }: EndpointQueue): ClaimedDelivery[] =>
    first.length > 0 || retriesInFlight >= RETRIES_IN_FLIGHT_MAX ? first : retries;

  const isGroupFull = (group: string): boolean =>
    (ofGroups.get(group) ?? 0) >= (group === EMAIL_LEASE ? IN_FLIGHT_OF.email : IN_FLIGHT_OF_WORKSPACE_MAX);

  const countOfGroup = (group: string, by: 1 | -1): void => {
    const count = (ofGroups.get(group) ?? 0) + by;
    if (count === 0) ofGroups.delete(group);
    else ofGroups.set(group, count);
  };

  const next = (queue: EndpointQueue): ClaimedDelivery | undefined => {
    if (closed || inFlight >= IN_FLIGHT_MAX) return undefined;
    const list = nextList(queue);
    const head = list[0];
    if (head === undefined || queue.inFlight >= limitOf(head) || isGroupFull(groupOf(head))) return undefined;
    if (pauseOf(head) > 0) return undefined;
    if (isEmailEndpoint(queue.endpoint)) emailsWaiting -= 1;
    return list.shift();
  };

  const send = async (queue: EndpointQueue, delivery: ClaimedDelivery): Promise<void> => {
    const retries = isRetry(delivery) ? 1 : 0;
    const group = groupOf(delivery);
    pacing.started(queue.endpoint);
    queue.inFlight += 1;
    inFlight += 1;
    retriesInFlight += retries;
    countOfGroup(group, 1);
    const arrived = await attempt(delivery);
    if (arrived !== null) pacing[arrived ? 'arrived' : 'failed'](queue.endpoint);
    queue.inFlight -= 1;
    inFlight -= 1;
    retriesInFlight -= retries;
    countOfGroup(group, -1);
    // The group's other queues start first, because this queue would take the free place again.
    startBlocked(blockedByGroup.get(group), () => isGroupFull(group));
    start(queue);
    startBlocked(blocked, () => false);
    if (closed && inFlight === 0) idle.resolve();
  };

  /** A queue that still cannot send moves to the end of the set: without a bound this would not end. */
  const startBlocked = (queuesBlocked: Set<EndpointQueue> | undefined, isFull: () => boolean): void => {
    let tries = Math.min(BLOCKED_TRIED, queuesBlocked?.size ?? 0);
    for (const queue of queuesBlocked ?? []) {
      if (tries === 0 || inFlight >= IN_FLIGHT_MAX || isFull()) break;
      tries -= 1;
      start(queue);
    }
  };

  /** `null` when its own sends or the end of its pause start the queue. */
  const blockedSetOf = (queue: EndpointQueue): Set<EndpointQueue> | null => {
    const head = nextList(queue)[0];
    const pauseMs = head === undefined ? 0 : pauseOf(head);
    if (pauseMs > 0) {
      queue.timer = setTimeout(() => start(queue), Math.ceil(pauseMs)).unref();
      return null;
    }
    const group = head === undefined ? null : groupOf(head);
    if (group !== null && isGroupFull(group)) {
      const set = blockedByGroup.get(group) ?? new Set();
      blockedByGroup.set(group, set);
      return set;
    }
    return queue.inFlight === 0 || inFlight >= IN_FLIGHT_MAX ? blocked : null;
  };

  const start = (queue: EndpointQueue): void => {
    if (queue.timer !== null) clearTimeout(queue.timer);
    queue.timer = null;
    for (let delivery = next(queue); delivery !== undefined; delivery = next(queue))
      void send(queue, delivery);
    const waits = waitingCount(queue);
    // Moves to the end of the set, so that queues blocked earlier are served first.
    queue.blockedIn?.delete(queue);
    queue.blockedIn = waits > 0 ? blockedSetOf(queue) : null;
    queue.blockedIn?.add(queue);
    if (queue.refillAt !== null && waits <= queue.refillAt) {
      queue.refillAt = null;
      hasCapacity(queue.endpoint, queue.workspaceId);
    }
    if (waits === 0 && queue.inFlight === 0) queues.delete(queue.endpoint);
  };

  return {
    places: () =>
      [...queues.values()].map((queue) => ({
        endpoint: queue.endpoint,
        places: placesAt(queue.endpoint, capacityOf(queue.endpoint), waitingCount(queue)),
      })),
    placesAtTurn: (endpoint, most) => {
      const queue = queues.get(endpoint);
      const waits = queue ? waitingCount(queue) : 0;
      const capacity = Math.min(most, capacityOf(endpoint));
      const refillAt = Math.floor(capacity * (1 - FREE_AT_TURN));
      if (!queue || waits <= refillAt) return placesAt(endpoint, capacity, waits);
      queue.refillAt = refillAt;
      return 0;
    },
    emailPlaces,
    offer: (deliveries) => {
      const refused: ClaimedDelivery[] = [];
      for (const delivery of deliveries) {
        const { endpoint, workspaceId } = delivery;
        let queue = queues.get(endpoint);
        if (!queue) {
          queue = {
            endpoint,
            workspaceId,
            first: [],
            retries: [],
            inFlight: 0,
            refillAt: null,
            blockedIn: null,
            timer: null,
          };
          queues.set(endpoint, queue);
        }
        const isEmail = isEmailEndpoint(endpoint);
        if (waitingCount(queue) >= WAITING_PER_ENDPOINT || (isEmail && emailPlaces() === 0)) {
          refused.push(delivery);
          continue;
        }
        if (isEmail) emailsWaiting += 1;
        (isRetry(delivery) ? queue.retries : queue.first).push(delivery);
        start(queue);
      }
      return refused;
    },
    gaveBack: (endpoints) => {
      for (const [endpoint, workspaceId] of endpoints) {
        const queue = queues.get(endpoint);
        const waits = queue ? waitingCount(queue) : 0;
        if (queue && waits > 0) queue.refillAt = Math.floor(waits * (1 - FREE_AT_TURN));
        else hasCapacity(endpoint, workspaceId);
      }
    },
    load: () => {
      const loads = new Map<string, number>();
      for (const queue of queues.values()) {
        const head = queue.first[0] ?? queue.retries[0];
        if (!head || pacing.isFailing(queue.endpoint)) continue;
        const owner = groupOf(head);
        const load = (loads.get(owner) ?? 0) + Math.min(COUNTED_PER_ENDPOINT, waitingCount(queue));
        loads.set(owner, Math.min(COUNTED_PER_WORKSPACE, load));
      }
      return [...loads.values()].reduce((sum, load) => sum + load, 0);
    },
    waiting: () => [...queues.values()].flatMap(({ first, retries }) => [...first, ...retries]),
    drop: (deliveryIds) => {
      for (const queue of queues.values()) {
        for (const list of [queue.first, queue.retries]) {
          const remaining = list.filter(({ deliveryId }) => !deliveryIds.has(deliveryId));
          if (isEmailEndpoint(queue.endpoint)) emailsWaiting -= list.length - remaining.length;
          list.splice(0, list.length, ...remaining);
        }
        start(queue);
      }
    },
    overflowed: () =>
      [...queues.values()].filter(({ refillAt }) => refillAt !== null).map(({ endpoint }) => endpoint),
    close: () => {
      closed = true;
      if (inFlight === 0) idle.resolve();
      return idle.promise;
    },
  };
};
