import { randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { type Asked, type Given, openRightsBus, type RightsBus } from './rights/rights-bus.ts';
import { ALONE, type ServingGroup } from './rights/serving-group.ts';

/** Length of the rate-limit window (specification, part "Limits": requests per minute). */
export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Interval at which a process publishes its request counts to the other processes. */
const SHARE_EVERY_MS = 250;
/**
 * Part of the remaining requests after which a process publishes its count of a caller at once, so that the other
 * processes report `x-ratelimit-remaining` correctly near the limit.
 */
const PUBLISHED_AT_ONCE_PART = 1 / 16;
/** Interval in ms at which a process without counts publishes none, so that the others know that they hear it. */
const HEARD_EVERY_MS = 1_000;
/** Time in ms for which a process counts as heard after its last message. */
const HEARD_FOR_MS = 3_000;
/** Time in ms that a request waits for rights of other processes: with late timers at most 100. */
export const RIGHTS_WAIT_MS = 90;
/** Maximum requests of one caller that wait for rights. */
const RIGHTS_WAITING_MAX = 1_000;
/**
 * Part of a limit that the processes together have in addition in the minute of their start, so that a request to them does
 * not wait for rights at once.
 */
const LATE_PART = 1 / 20;
/** Time in ms for which a caller without rights anywhere is refused before the others are asked again. */
const NONE_FOR_MS = 1_000;
/** The same when not all others have answered in time. */
const ASK_AGAIN_MS = 100;

export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds at which the window ends. */
  readonly resetAt: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetIn: number;
};

/**
 * Returns the `x-ratelimit-*` headers of the specification, and those of draft-ietf-httpapi-ratelimit-headers.
 */
export const rateHeaders = ({
  limit,
  remaining,
  resetAt,
  resetIn,
}: Allowance): Record<string, string | number> => ({
  'x-ratelimit-limit': limit,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': resetAt,
  'ratelimit-policy': `"minute";q=${limit};w=${WINDOW_SECONDS}`,
  ratelimit: `"minute";r=${remaining};t=${resetIn}`,
});

export type RateLimiter = Disposable & {
  /**
   * Counts one request of a caller against its limit. A refused request is not counted. Returns at once while this
   * process has rights of the caller. Otherwise it borrows some and returns a promise, which resolves within
   * `RIGHTS_WAIT_MS`.
   */
  take(name: string, limit: number): Allowance | Promise<Allowance>;
  /** The same without counting a request. */
  look(name: string, limit: number): Allowance | Promise<Allowance>;
  /** Removes one counted request. */
  giveBack(name: string, limit: number): Allowance;
  /** Starts to exchange rights and counts with the other processes. */
  share(connection: NatsConnection): void;
};

/** Calls back at the end of a wait. Answers that have arrived by then are read first, also after a late event loop. */
const afterWait = (end: () => void): NodeJS.Timeout => setTimeout(() => setImmediate(end), RIGHTS_WAIT_MS);

type Waiter = {
  readonly limit: number;
  /** True when the request counts; false for a look. */
  readonly counts: boolean;
  readonly settle: (allowed: boolean) => void;
};

/** A question to all other processes for rights of one caller. */
type Ask = {
  readonly caller: CallerState;
  /** Processes that have answered. Each answers once. */
  readonly answered: Set<string>;
  /** Processes that were heard when the question was sent. */
  readonly expected: number;
  given: number;
  readonly timer: NodeJS.Timeout;
};

/** One caller in the current window. */
type CallerState = {
  readonly name: string;
  limit: number;
  /** Own requests. */
  spent: number;
  /** Rights that came from other processes, less those that went to them. */
  moved: number;
  /** Requests that other processes have reported. */
  elsewhere: number;
  /** Own requests that are not published yet. */
  unpublished: number;
  waiting: Waiter[];
  ask: Ask | null;
  /** Time by the clock of `performance` until which no other process has rights. */
  noneUntil: number;
};

export type RateLimiterOptions = {
  /** Processes among which the rights are divided; this one alone when absent, and nothing is exchanged. */
  readonly group?: ServingGroup | undefined;
  readonly log?: Log | undefined;
};

/**
 * Fixed-window rate limiter by caller, such as the id of a workspace. A right allows one request of a caller in a
 * window. At the start of a window each process has its share of the rights: the limit divided by the number of
 * processes. A process without rights borrows half of those of the others over NATS. A right is moved, never copied, so
 * all processes together allow at most the limit. Without NATS each process allows its share.
 */
export const createRateLimiter = (clock: Clock, { group, log }: RateLimiterOptions = {}): RateLimiter => {
  const node = randomUUID();
  const holders = group?.holders ?? (() => ALONE);
  const startedAt = clock.now().getTime();
  let window = 0;
  let callers = new Map<string, CallerState>();
  /** When each of the other processes was heard last, in epoch ms. */
  const heardAt = new Map<string, number>();
  let publishedAt = 0;
  let bus: RightsBus | undefined;
  /** Open questions of this window, by number. An answer that comes late still brings its rights. */
  const asks = new Map<number, Ask>();
  let lastAsk = 0;
  let isLossLogged = false;

  const heard = (now: number): number => {
    let count = 0;
    for (const at of heardAt.values()) if (now - at <= HEARD_FOR_MS) count += 1;
    return count;
  };

  /** Returns the rights that this process has at the start of the window. */
  const shareOf = (now: number, limit: number): number => {
    const { count, place, live } = holders(window);
    // The others have divided all rights before this process started. It has a small part in addition, and borrows.
    if (place === null)
      return Math.floor(heard(now) > 0 ? (limit * LATE_PART) / (live - count) : limit / live);
    return Math.floor(limit / count) + (place < limit % count ? 1 : 0);
  };

  const rightsOf = (now: number, limit: number, caller: CallerState | undefined): number =>
    shareOf(now, limit) + (caller ? caller.moved - caller.spent : 0);

  const stateOf = (name: string, limit: number): CallerState => {
    const known = callers.get(name);
    if (known) {
      known.limit = limit;
      return known;
    }
    const counters = { spent: 0, moved: 0, elsewhere: 0, unpublished: 0, noneUntil: 0 };
    const created: CallerState = { name, limit, ...counters, waiting: [], ask: null };
    callers.set(name, created);
    return created;
  };

  const toAllowance = (
    now: number,
    allowed: boolean,
    limit: number,
    caller: CallerState | undefined,
  ): Allowance => {
    const own = Math.max(0, rightsOf(now, limit, caller));
    const isShared = heard(now) >= holders(window).live - 1;
    const left = isShared ? limit - (caller ? caller.spent + caller.elsewhere : 0) : 0;
    const endsAt = (window + 1) * WINDOW_MS;
    return {
      allowed,
      limit,
      remaining: allowed ? Math.max(own, left) : 0,
      resetAt: endsAt / 1_000,
      resetIn: Math.max(1, Math.ceil((endsAt - now) / 1_000)),
    };
  };

  const publish = (counts: readonly (readonly [string, number])[]): void => {
    bus?.publishCounts(window, counts);
    publishedAt = clock.now().getTime();
  };

  const count = (caller: CallerState, by: 1 | -1): void => {
    const spent = Math.max(0, caller.spent + by);
    const delta = spent - caller.spent;
    caller.spent = spent;
    if (!bus || delta === 0) return;
    caller.unpublished += delta;
    const left = caller.limit - spent - caller.elsewhere;
    if (caller.unpublished !== 0 && Math.abs(caller.unpublished) >= left * PUBLISHED_AT_ONCE_PART) {
      publish([[caller.name, caller.unpublished]]);
      caller.unpublished = 0;
    }
  };

  /** Serves waiting requests, in the order of their arrival, while there are rights. */
  const serve = (now: number, caller: CallerState): void => {
    while (caller.waiting[0] && rightsOf(now, caller.waiting[0].limit, caller) > 0)
      caller.waiting.shift()?.settle(true);
  };

  const refuseWaiting = (caller: CallerState): void => {
    for (const waiter of caller.waiting.splice(0)) waiter.settle(false);
  };

  const closeAsk = (number: number, ask: Ask): void => {
    clearTimeout(ask.timer);
    const { caller } = ask;
    if (caller.ask !== ask) return;
    caller.ask = null;
    const isAnswered = ask.answered.size >= ask.expected;
    if (isAnswered) asks.delete(number);
    if (ask.given > 0) {
      if (caller.waiting.length > 0) askOthers(caller);
      return;
    }
    // Without all answers rights may still come, and the next request asks again.
    caller.noneUntil = performance.now() + (isAnswered ? NONE_FOR_MS : ASK_AGAIN_MS);
    refuseWaiting(caller);
  };

  const askOthers = (caller: CallerState): void => {
    const number = (lastAsk += 1);
    const timer = afterWait(() => closeAsk(number, ask));
    const expected = heard(clock.now().getTime());
    const ask: Ask = { caller, answered: new Set(), expected, given: 0, timer };
    asks.set(number, ask);
    caller.ask = ask;
    bus?.ask({ ask: number, window, name: caller.name, limit: caller.limit });
  };

  /** Begins the current window. Requests that wait for rights of the last one get those of this one. */
  const enterWindow = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    const last = callers;
    callers = new Map();
    for (const { timer } of asks.values()) clearTimeout(timer);
    asks.clear();
    for (const { name, limit, waiting } of last.values()) {
      if (waiting.length === 0) continue;
      const caller = stateOf(name, limit);
      caller.waiting = waiting;
      serve(now, caller);
      if (caller.waiting.length > 0) askOthers(caller);
    }
  };

  const mayBorrow = (now: number, caller: CallerState): boolean =>
    bus?.isOpen() === true &&
    performance.now() >= caller.noneUntil &&
    heard(now) > 0 &&
    caller.waiting.length < RIGHTS_WAITING_MAX;

  const waitForRights = (caller: CallerState, limit: number, counts: boolean): Promise<Allowance> =>
    new Promise((resolve) => {
      const waiter: Waiter = {
        limit,
        counts,
        settle: (allowed) => {
          clearTimeout(timer);
          const now = clock.now().getTime();
          const current = stateOf(caller.name, limit);
          if (allowed && counts) count(current, 1);
          resolve(toAllowance(now, allowed, limit, current));
        },
      };
      const timer = afterWait(() => {
        const { waiting } = stateOf(caller.name, limit);
        const place = waiting.indexOf(waiter);
        if (place !== -1) waiting.splice(place, 1);
        waiter.settle(false);
      });
      caller.waiting.push(waiter);
      if (!caller.ask) askOthers(caller);
    });

  const admit = (name: string, limit: number, counts: boolean): Allowance | Promise<Allowance> => {
    const now = clock.now().getTime();
    enterWindow(now);
    const caller = stateOf(name, limit);
    if (rightsOf(now, limit, caller) > 0) {
      if (counts) count(caller, 1);
      return toAllowance(now, true, limit, caller);
    }
    if (!mayBorrow(now, caller)) return toAllowance(now, false, limit, caller);
    return waitForRights(caller, limit, counts);
  };

  const hear = (from: string, now: number): void => {
    const isNew = !heardAt.has(from);
    heardAt.set(from, now);
    // The other process may have started just now, and learns at once that it is heard.
    if (isNew) publish([]);
  };

  const addCounts = (from: string, counted: number, counts: readonly (readonly [string, number])[]): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    hear(from, now);
    if (counted !== window) return;
    for (const [name, requests] of counts) {
      const caller = callers.get(name) ?? stateOf(name, 0);
      caller.elsewhere = Math.max(0, caller.elsewhere + requests);
    }
  };

  /** Gives up half of the rights of a caller, and at least one. A process whose own requests wait gives none. */
  const answer = ({ node: from, window: asked, ask, name, limit }: Asked): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    hear(from, now);
    const known = callers.get(name);
    const own = known && known.limit > 0 ? Math.min(known.limit, limit) : limit;
    const rights =
      asked === window && !known?.waiting.length ? Math.ceil(Math.max(0, rightsOf(now, own, known)) / 2) : 0;
    if (rights > 0) (known ?? stateOf(name, limit)).moved -= rights;
    bus?.give(from, { ask, rights });
  };

  const receive = ({ node: from, ask: number, rights }: Given): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    hear(from, now);
    const ask = asks.get(number);
    if (!ask || ask.answered.has(from)) return;
    ask.answered.add(from);
    if (rights > 0) {
      ask.given += rights;
      ask.caller.moved += Math.min(rights, ask.caller.limit);
      serve(now, ask.caller);
    }
    if (ask.answered.size >= ask.expected) closeAsk(number, ask);
  };

  /** Logs once that other processes are not heard, and once that they are heard again. */
  const logLoss = (now: number): void => {
    const others = holders(window).live - 1;
    const isLost = now - startedAt > HEARD_FOR_MS && heard(now) < others;
    if (isLost === isLossLogged) return;
    isLossLogged = isLost;
    if (isLost)
      log?.warn({ others, heard: heard(now) }, 'other processes not heard; share of limits allowed');
    else log?.info({ others }, 'other processes heard; rights shared');
  };

  const tick = (): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    for (const [other, at] of heardAt) if (now - at > HEARD_FOR_MS) heardAt.delete(other);
    logLoss(now);
    if (!bus?.isOpen()) return;
    const counts: [string, number][] = [];
    for (const caller of callers.values()) {
      if (caller.unpublished === 0) continue;
      counts.push([caller.name, caller.unpublished]);
      caller.unpublished = 0;
    }
    if (counts.length > 0 || now - publishedAt >= HEARD_EVERY_MS) publish(counts);
  };

  const ticking = setInterval(tick, SHARE_EVERY_MS);
  ticking.unref();

  return {
    take: (name, limit) => admit(name, limit, true),
    look: (name, limit) => admit(name, limit, false),
    giveBack: (name, limit) => {
      const now = clock.now().getTime();
      enterWindow(now);
      const caller = stateOf(name, limit);
      count(caller, -1);
      serve(now, caller);
      return toAllowance(now, true, limit, caller);
    },
    share: (connection) => {
      if (!group) return;
      bus = openRightsBus(
        connection,
        { group: group.name, node },
        { counted: addCounts, asked: answer, given: receive },
      );
      publish([]);
    },
    [Symbol.dispose]: () => {
      clearInterval(ticking);
      bus?.[Symbol.dispose]();
      bus = undefined;
      for (const { timer } of asks.values()) clearTimeout(timer);
      for (const caller of callers.values()) refuseWaiting(caller);
    },
  };
};
