import { randomUUID } from 'node:crypto';
import type { NatsConnection, Subscription } from 'nats';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';

/** Length of the rate-limit window (specification, part "Limits": requests per minute). */
export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Interval at which a process publishes its request counts to the other processes. */
const SHARE_EVERY_MS = 250;
/**
 * Part of the remaining requests after which a process publishes its count of a key at once. Near the limit it publishes
 * each request, so that processes together exceed it only by what is on the way.
 */
const PUBLISHED_AT_ONCE_PART = 1 / 16;
/** Interval in ms at which a process without counts publishes none, so that the others know that they hear it. */
const HEARD_EVERY_MS = 1_000;
/** Time in ms for which a process counts as heard after its last message. */
const HEARD_FOR_MS = 3_000;
/** Core NATS without a stream: a lost message only allows a caller a few more requests in this minute. */
const SUBJECT = 'api.requests_counted';
/** Maximum keys per message. */
const KEYS_PER_MESSAGE = 2_000;
/** Maximum characters of a key in a message of another process. */
const KEY_MAX_CHARACTERS = 300;

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
  /** Counts one request of a key against its limit. A refused request is not counted. */
  take(keyId: string, limit: number): Allowance;
  /** Returns the allowance without counting a request. */
  look(keyId: string, limit: number): Allowance;
  /** Removes one counted request. */
  giveBack(keyId: string, limit: number): Allowance;
  /** Starts to exchange counts with the other processes. */
  share(connection: NatsConnection): void;
};

const Counted = z.object({
  node: z.string(),
  window: z.int(),
  counts: z.array(z.tuple([z.string().max(KEY_MAX_CHARACTERS), z.int()])).max(KEYS_PER_MESSAGE),
});

/** Parses JSON. Returns `undefined` for another text: core NATS carries messages of any sender. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the number of live processes that count requests, this one included. */
export type CountProcesses = () => number;

/**
 * Fixed-window rate limiter by key, such as the id of a workspace. Each process counts locally and exchanges its counts over NATS.
 * While it does not hear all others, it allows its own share only: the limit divided by the number of live processes.
 */
export const createRateLimiter = (clock: Clock, countProcesses: CountProcesses = () => 1): RateLimiter => {
  const node = randomUUID();
  let window = 0;
  /** Requests per key in this window: own requests, and those that other processes have reported. */
  const used = new Map<string, number>();
  /** Own requests per key in this window. */
  const own = new Map<string, number>();
  /** When each of the other processes was heard last, in epoch ms. */
  const heardAt = new Map<string, number>();
  let publishedAt = 0;
  /** Own requests per key that are not published yet. */
  const unpublished = new Map<string, number>();
  let connection: NatsConnection | undefined;
  let subscription: Subscription | undefined;

  const enterWindow = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    used.clear();
    own.clear();
    unpublished.clear();
  };

  const hearsAll = (now: number, processes: number): boolean => {
    if (processes <= 1) return true;
    let heard = 0;
    for (const at of heardAt.values()) if (now - at <= HEARD_FOR_MS) heard += 1;
    return heard >= processes - 1;
  };

  /** Returns how many more requests of the key this process allows. */
  const roomOf = (now: number, keyId: string, limit: number): number => {
    const left = limit - (used.get(keyId) ?? 0);
    const processes = countProcesses();
    if (hearsAll(now, processes)) return left;
    const share = Math.max(1, Math.floor(limit / processes));
    return Math.min(left, share - (own.get(keyId) ?? 0));
  };

  const toAllowance = (now: number, allowed: boolean, limit: number, room: number): Allowance => {
    const endsAt = (window + 1) * WINDOW_MS;
    return {
      allowed,
      limit,
      remaining: Math.max(0, room),
      resetAt: endsAt / 1_000,
      resetIn: Math.max(1, Math.ceil((endsAt - now) / 1_000)),
    };
  };

  const publish = (counts: readonly (readonly [string, number])[]): void => {
    if (!connection || connection.isClosed()) return;
    connection.publish(SUBJECT, JSON.stringify({ node, window, counts }));
    publishedAt = clock.now().getTime();
  };

  const count = (keyId: string, limit: number, by: 1 | -1): Allowance => {
    const now = clock.now().getTime();
    enterWindow(now);
    const room = roomOf(now, keyId, limit);
    if (by > 0 && room <= 0) return toAllowance(now, false, limit, room);
    const after = Math.max(0, (used.get(keyId) ?? 0) + by);
    used.set(keyId, after);
    own.set(keyId, Math.max(0, (own.get(keyId) ?? 0) + by));
    if (connection) {
      const delta = (unpublished.get(keyId) ?? 0) + by;
      unpublished.set(keyId, delta);
      if (delta !== 0 && Math.abs(delta) >= (limit - after) * PUBLISHED_AT_ONCE_PART) {
        unpublished.delete(keyId);
        publish([[keyId, delta]]);
      }
    }
    return toAllowance(now, true, limit, room - by);
  };

  const publishCounts = (): void => {
    if (!connection || connection.isClosed()) return;
    const now = clock.now().getTime();
    enterWindow(now);
    const counts = [...unpublished].filter(([, delta]) => delta !== 0);
    unpublished.clear();
    for (const [other, at] of heardAt) if (now - at > HEARD_FOR_MS) heardAt.delete(other);
    if (counts.length === 0 && now - publishedAt >= HEARD_EVERY_MS) publish([]);
    for (let from = 0; from < counts.length; from += KEYS_PER_MESSAGE) {
      publish(counts.slice(from, from + KEYS_PER_MESSAGE));
    }
  };

  const addReported = (text: string): void => {
    const now = clock.now().getTime();
    enterWindow(now);
    const message = Counted.safeParse(parseJson(text));
    if (!message.success || message.data.node === node) return;
    heardAt.set(message.data.node, now);
    if (message.data.window !== window) return;
    for (const [keyId, delta] of message.data.counts)
      used.set(keyId, Math.max(0, (used.get(keyId) ?? 0) + delta));
  };

  const publishing = setInterval(publishCounts, SHARE_EVERY_MS);
  publishing.unref();

  return {
    take: (keyId, limit) => count(keyId, limit, 1),
    look: (keyId, limit) => {
      const now = clock.now().getTime();
      enterWindow(now);
      const room = roomOf(now, keyId, limit);
      return toAllowance(now, room > 0, limit, room);
    },
    giveBack: (keyId, limit) => count(keyId, limit, -1),
    share: (opened) => {
      connection = opened;
      subscription = opened.subscribe(SUBJECT, {
        callback: (error, message) => {
          if (!error) addReported(message.string());
        },
      });
    },
    [Symbol.dispose]: () => {
      clearInterval(publishing);
      subscription?.unsubscribe();
      connection = undefined;
    },
  };
};
