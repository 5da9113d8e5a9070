import { randomUUID } from 'node:crypto';
import type { NatsConnection } from 'nats';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { type Allowance, WINDOW_MS } from './allowance.ts';
import { afterWait, createBorrowing } from './rights/borrowing.ts';
import { type Caller, createCaller, type Waiter } from './rights/caller.ts';
import { createHeardProcesses } from './rights/heard-processes.ts';
import { type Asked, openRightsBus, type RightsBus } from './rights/rights-bus.ts';
import { ALONE, type ServingGroup } from './rights/serving-group.ts';

/** Interval at which a process publishes its request counts to the other processes. */
const SHARE_EVERY_MS = 250;
/**
 * Part of the remaining requests after which a process publishes its count of a caller at once, so that the other
 * processes report `x-ratelimit-remaining` correctly near the limit.
 */
const PUBLISHED_AT_ONCE_PART = 1 / 16;
/** Interval in ms at which a process without counts publishes none, so that the others know that they hear it. */
const HEARD_EVERY_MS = 1_000;
/** Maximum requests of one caller that wait for rights. */
const RIGHTS_WAITING_MAX = 1_000;
/**
 * Part of a limit that the processes together have in addition in the minute of their start, so that a request to them does
 * not wait for rights at once.
 */
const LATE_PART = 1 / 20;
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
  const heard = createHeardProcesses(clock.now().getTime(), log);
  let window = 0;
  let callers = new Map<string, Caller>();
  let publishedAt = 0;
  let bus: RightsBus | undefined;
  /** Returns the rights that this process has at the start of the window. */
  const shareOf = (now: number, limit: number): number => {
    const { count, place, live, holdersLive } = holders(window);
    if (place === null) {
      // The others have divided all rights before this process started. It has a small part in addition, and borrows. It may
      // not hear them yet, or at all, while they are live.
      const isDivided = holdersLive > 0 || heard.count(now) > 0;
      return Math.floor(isDivided ? (limit * LATE_PART) / (live - count) : limit / live);
    }
    return Math.floor(limit / count) + (place < limit % count ? 1 : 0);
  };

  const rightsOf = (now: number, limit: number, caller: Caller | undefined): number =>
    shareOf(now, limit) + (caller ? caller.moved - caller.spent : 0);

  const stateOf = (name: string, limit: number): Caller => {
    const known = callers.get(name);
    if (known) {
      known.limit = limit;
      return known;
    }
    const created = createCaller(name, limit);
    callers.set(name, created);
    return created;
  };

  const toAllowance = (
    now: number,
    allowed: boolean,
    limit: number,
    caller: Caller | undefined,
  ): Allowance => {
    const own = Math.max(0, rightsOf(now, limit, caller));
    const isShared = heard.count(now) >= holders(window).live - 1;
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

  const count = (caller: Caller, by: 1 | -1): void => {
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
  const serve = (now: number, caller: Caller): void => {
    while (caller.waiting[0] && rightsOf(now, caller.waiting[0].limit, caller) > 0)
      caller.waiting.shift()?.settle(true);
  };

  const refuseWaiting = (caller: Caller): void => {
    for (const waiter of caller.waiting.splice(0)) waiter.settle(false);
  };

  const borrowing = createBorrowing({
    send: (ask, { name, limit }) => bus?.ask({ ask, window, name, limit }),
    countHeard: () => heard.count(clock.now().getTime()),
    serve: (caller) => serve(clock.now().getTime(), caller),
    refuse: refuseWaiting,
  });

  /** Begins the current window. Requests that wait for rights of the last one get those of this one. */
  const enterWindow = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    const last = callers;
    callers = new Map();
    borrowing.clear();
    for (const { name, limit, waiting } of last.values()) {
      if (waiting.length === 0) continue;
      const caller = stateOf(name, limit);
      caller.waiting = waiting;
      serve(now, caller);
      if (caller.waiting.length > 0) borrowing.ask(caller);
    }
  };

  const mayBorrow = (now: number, caller: Caller): boolean =>
    bus?.isOpen() === true &&
    performance.now() >= caller.noneUntil &&
    heard.count(now) > 0 &&
    caller.waiting.length < RIGHTS_WAITING_MAX;

  const waitForRights = (caller: Caller, limit: number, counts: boolean): Promise<Allowance> =>
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
      if (!caller.ask) borrowing.ask(caller);
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
    // The other process may have started just now, and learns at once that it is heard.
    if (heard.hear(from, now)) publish([]);
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

  const tick = (): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    heard.check(now, holders(window).live - 1);
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
        {
          counted: addCounts,
          asked: answer,
          given: (given) => {
            const now = clock.now().getTime();
            enterWindow(now);
            hear(given.node, now);
            borrowing.receive(given);
          },
        },
      );
      publish([]);
    },
    [Symbol.dispose]: () => {
      clearInterval(ticking);
      bus?.[Symbol.dispose]();
      bus = undefined;
      borrowing.clear();
      for (const caller of callers.values()) refuseWaiting(caller);
    },
  };
};
