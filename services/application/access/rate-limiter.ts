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
/** Core NATS without a stream: a lost message only allows a caller a few more requests in this minute. */
const SUBJECT = 'api.requests_counted';
/** Maximum keys per message. */
const KEYS_PER_MESSAGE = 2_000;

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
  counts: z.array(z.tuple([z.string(), z.int()])),
});

/** Parses JSON. Returns `undefined` for another text: core NATS carries messages of any sender. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Fixed-window rate limiter by key, such as the id of a workspace. Each process counts locally and exchanges its counts over NATS. */
export const createRateLimiter = (clock: Clock): RateLimiter => {
  const node = randomUUID();
  let window = 0;
  /** Requests per key in this window: own requests, and those that other processes have reported. */
  const used = new Map<string, number>();
  /** Own requests per key that are not published yet. */
  const unpublished = new Map<string, number>();
  let connection: NatsConnection | undefined;
  let subscription: Subscription | undefined;

  const enterWindow = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    used.clear();
    unpublished.clear();
  };

  const toAllowance = (now: number, allowed: boolean, limit: number, count: number): Allowance => {
    const endsAt = (window + 1) * WINDOW_MS;
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetAt: endsAt / 1_000,
      resetIn: Math.max(1, Math.ceil((endsAt - now) / 1_000)),
    };
  };

  const publish = (counts: readonly (readonly [string, number])[]): void => {
    if (!connection || connection.isClosed()) return;
    connection.publish(SUBJECT, JSON.stringify({ node, window, counts }));
  };

  const count = (keyId: string, limit: number, by: 1 | -1): Allowance => {
    const now = clock.now().getTime();
    enterWindow(now);
    const before = used.get(keyId) ?? 0;
    if (by > 0 && before >= limit) return toAllowance(now, false, limit, before);
    const after = Math.max(0, before + by);
    used.set(keyId, after);
    if (connection) {
      const delta = (unpublished.get(keyId) ?? 0) + by;
      unpublished.set(keyId, delta);
      if (delta !== 0 && Math.abs(delta) >= (limit - after) * PUBLISHED_AT_ONCE_PART) {
        unpublished.delete(keyId);
        publish([[keyId, delta]]);
      }
    }
    return toAllowance(now, true, limit, after);
  };

  const publishCounts = (): void => {
    if (!connection || connection.isClosed() || unpublished.size === 0) return;
    const counts = [...unpublished].filter(([, delta]) => delta !== 0);
    unpublished.clear();
    for (let from = 0; from < counts.length; from += KEYS_PER_MESSAGE) {
      publish(counts.slice(from, from + KEYS_PER_MESSAGE));
    }
  };

  const addReported = (text: string): void => {
    enterWindow(clock.now().getTime());
    const message = Counted.safeParse(parseJson(text));
    if (!message.success || message.data.node === node || message.data.window !== window) return;
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
      const counted = used.get(keyId) ?? 0;
      return toAllowance(now, counted < limit, limit, counted);
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
