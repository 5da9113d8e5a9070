import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { NatsConnection, Subscription } from 'nats';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';
import { networkOf } from '#platform/http/request-headers.ts';
import { createRunTables } from '#platform/postgres/lease/leases.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Counts requests per minute: by workspace over all API processes, and by address for requests without a valid key. */

/** Length of the window (specification, part "Limits": requests per minute). */
const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
const TELL_EVERY_MS = 250;
/** A process allows this part of a limit before it exchanges counts: four processes allow 1.09 × the limit in all. */
const UNHEARD_PART = 1 / 80;
/** Milliseconds for which a request waits until the others are heard, and for which none waits after one has waited in vain. */
const HEARING_MS = 500;
const DEAF_MS = 5_000;
const NAMES_PER_MESSAGE = 2_000;
const NAME_MAX_CHARACTERS = 300;
/** Core NATS without a stream: the requests of a lost message are not counted elsewhere. */
const SUBJECT = 'api.requests';

export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds at which the minute ends. */
  readonly resetAt: number;
  /** Whole seconds until the minute ends, at least 1. */
  readonly resetIn: number;
};

/** Sets the headers of the specification and of draft-ietf-httpapi-ratelimit-headers. */
export const setRateHeaders = (
  headers: Record<string, string | number>,
  { limit, remaining, resetAt, resetIn }: Allowance,
): void => {
  headers['x-ratelimit-limit'] = limit;
  headers['x-ratelimit-remaining'] = remaining;
  headers['x-ratelimit-reset'] = resetAt;
  headers['ratelimit-policy'] = `"minute";q=${limit};w=${WINDOW_SECONDS}`;
  headers['ratelimit'] = `"minute";r=${remaining};t=${resetIn}`;
};

export type RequestCounts = Disposable & {
  /** A refused request is not counted. */
  take(name: string, limit: number): Allowance;
  /** Counts of the others to await before `take`; `undefined` for none. Call it again after the wait. */
  hearing(name: string, limit: number): Promise<void> | undefined;
  giveBack(name: string): void;
  size(): number;
  /** Exchanges counts with the other processes of the group. */
  share(connection: NatsConnection, group: string): void;
};

type Count = {
  own: number;
  untold: number;
  elsewhere: number;
  /** Requests that were allowed since the last counts of other processes. */
  unheard: number;
  hearing: Promise<void> | undefined;
};

const Message = z.object({
  node: z.string().min(1).max(NAME_MAX_CHARACTERS),
  window: z.int(),
  /** True for the first message of a process: the others tell it what they have counted in this minute. */
  isNew: z.boolean(),
  counts: z.array(z.tuple([z.string().max(NAME_MAX_CHARACTERS), z.int()])).max(NAMES_PER_MESSAGE),
});
type Counted = z.infer<typeof Message>['counts'];

/** `null` for another text: core NATS carries messages of any sender. */
const parse = (text: string): z.infer<typeof Message> | null => {
  try {
    return Message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

/** Processes of one group count together. The number of the database tells a copy from its original. */
export const countingGroup = async (database: Database, kind: 'callers' | 'collectors'): Promise<string> => {
  await createRunTables(database);
  const { rows } = await database.query<{ name: string }>(
    `select i.id || '-' || d.oid as name from run.installation i, pg_database d where d.datname = current_database()`,
  );
  return `${rows[0]?.name}.${kind}`;
};

/** Each process tells its counts to the others. Without NATS each allows the limit for itself. */
export const createRequestCounts = (clock: Clock): RequestCounts => {
  const node = randomUUID();
  let window = 0;
  let counts = new Map<string, Count>();
  let deafUntil = 0;
  let flush: () => Promise<void> = () => Promise.resolve();
  let tell: (subject: string, counted: Counted, isNew?: boolean) => void = () => undefined;
  let group: string | null = null;
  const subscriptions: Subscription[] = [];

  const enterWindow = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    counts = new Map();
  };
  const countOf = (name: string): Count => {
    let count = counts.get(name);
    if (!count) {
      count = { own: 0, untold: 0, elsewhere: 0, unheard: 0, hearing: undefined };
      counts.set(name, count);
    }
    return count;
  };
  const tellUntold = (): void => {
    enterWindow(clock.now().getTime());
    if (group === null) return;
    const counted: Counted = [];
    for (const [name, count] of counts) {
      if (count.untold === 0) continue;
      counted.push([name, count.untold]);
      count.untold = 0;
    }
    if (counted.length > 0) tell(group, counted);
  };
  const hear = (text: string): void => {
    const message = parse(text);
    if (!message || message.node === node) return;
    enterWindow(clock.now().getTime());
    if (message.window === window)
      for (const [name, requests] of message.counts) {
        const count = countOf(name);
        count.elsewhere = Math.max(0, count.elsewhere + requests);
      }
    if (!message.isNew) return;
    const told = [...counts].map(([name, { own, untold }]): [string, number] => [name, own - untold]);
    if (told.length > 0) tell(`${group}.${message.node}`, told);
  };
  /** Waits until the counts that the others told before are heard. */
  const hearOthers = async (subject: string, name: string, count: Count): Promise<void> => {
    tell(subject, [[name, count.untold]]);
    count.untold = 0;
    const timeout = Promise.withResolvers<'timeout'>();
    const timer = setTimeout(() => timeout.resolve('timeout'), HEARING_MS);
    const outcome = await Promise.race([flush().catch(() => 'timeout' as const), timeout.promise]);
    clearTimeout(timer);
    if (outcome === 'timeout') deafUntil = performance.now() + DEAF_MS;
    count.unheard = 0;
    count.hearing = undefined;
  };
  const ticking = setInterval(tellUntold, TELL_EVERY_MS);
  ticking.unref();

  return {
    take: (name, limit) => {
      const now = clock.now().getTime();
      enterWindow(now);
      const count = countOf(name);
      const left = limit - count.own - count.elsewhere;
      const allowed = left > 0;
      if (allowed) {
        count.own += 1;
        count.untold += 1;
        count.unheard += 1;
      }
      const endsAt = (window + 1) * WINDOW_MS;
      return {
        allowed,
        limit,
        remaining: Math.max(0, left - 1),
        resetAt: endsAt / 1_000,
        resetIn: Math.max(1, Math.ceil((endsAt - now) / 1_000)),
      };
    },
    hearing: (name, limit) => {
      const count = counts.get(name);
      if (group === null || count === undefined || performance.now() < deafUntil) return undefined;
      const isUsedUp = count.own + count.elsewhere >= limit;
      if (isUsedUp || count.unheard < Math.max(1, Math.floor(limit * UNHEARD_PART))) return undefined;
      count.hearing ??= hearOthers(group, name, count);
      return count.hearing;
    },
    giveBack: (name) => {
      enterWindow(clock.now().getTime());
      const count = counts.get(name);
      if (!count || count.own === 0) return;
      count.own -= 1;
      count.untold -= 1;
    },
    size: () => counts.size,
    share: (connection, name) => {
      group = `${SUBJECT}.${name}`;
      flush = () => connection.flush();
      tell = (subject, counted, isNew = false) => {
        if (connection.isClosed()) return;
        for (let from = 0; from === 0 || from < counted.length; from += NAMES_PER_MESSAGE) {
          const some = counted.slice(from, from + NAMES_PER_MESSAGE);
          connection.publish(subject, JSON.stringify({ node, window, isNew, counts: some }));
        }
      };
      for (const subject of [group, `${group}.${node}`]) {
        const callback = (error: unknown, message: { string(): string }): void => {
          if (!error) hear(message.string());
        };
        subscriptions.push(connection.subscribe(subject, { callback }));
      }
      tell(group, [], true);
    },
    [Symbol.dispose]: () => {
      clearInterval(ticking);
      group = null;
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
};

/** Default limit per minute and address, over all processes. */
export const REFUSED_PER_MINUTE = 1_000;
/** Above this, requests of further addresses are not counted. */
export const NAMES_MAX = 50_000;
const VALID_KEYS_MAX = 10_000;
const VALID_KEY_MS = 3_600_000;
/** Part that identifies a key: 12 characters before the checksum, 71 random bits. */
const MARK_FROM = -18;
const MARK_TO = -6;

/** Name to count a request by; `null` for one that is not counted. */
export type Counting = string | null;

export type RefusedRequests = {
  /**
   * Returns the allowance of an address that has used it up. A key that was valid of late is not counted, so that an
   * attacker behind the same address does not shut out its owner.
   */
  enter(address: string, keyText: string | undefined): Counting | Allowance;
  refuse(address: string, keyText: string | undefined, counted: Counting): void;
  accept(keyText: string, counted: Counting): void;
  /** Removes the count when the key could not be checked. */
  cancel(counted: Counting): void;
};

/** `server`: the kind of server; each has a limit of its own. */
export const createRefusedRequests = (
  counts: RequestCounts,
  server: 'api' | 'mcp' | 'intake',
  perMinute = REFUSED_PER_MINUTE,
): RefusedRequests => {
  const valid = new LRUCache<string, true>({ max: VALID_KEYS_MAX, ttl: VALID_KEY_MS });
  // No whole key is kept.
  const markOf = (keyText: string): string => keyText.slice(MARK_FROM, MARK_TO);
  const count = (address: string): Counting | Allowance => {
    if (counts.size() >= NAMES_MAX) return null;
    const name = `${server} address ${networkOf(address)}`;
    const allowance = counts.take(name, perMinute);
    return allowance.allowed ? name : allowance;
  };
  const cancel = (counted: Counting): void => {
    if (counted !== null) counts.giveBack(counted);
  };
  return {
    enter: (address, keyText) =>
      keyText !== undefined && valid.has(markOf(keyText)) ? null : count(address),
    refuse: (address, keyText, counted) => {
      if (keyText !== undefined) valid.delete(markOf(keyText));
      if (counted === null) count(address);
    },
    accept: (keyText, counted) => {
      if (counted !== null) valid.set(markOf(keyText), true);
      cancel(counted);
    },
    cancel,
  };
};
