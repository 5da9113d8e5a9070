import { randomUUID } from 'node:crypto';
import type { NatsConnection, Subscription } from 'nats';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';

/** The window of the specification, part "Limits": requests per minute. */
export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Processes tell each other what they have let through this often. */
const SHARE_EVERY_MS = 250;
/** Core NATS, no stream: a lost message lets a caller make a few requests more in this minute, no harm. */
const SUBJECT = 'api.requests_counted';
const KEYS_PER_MESSAGE = 2_000;

export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds at which the window ends. */
  readonly resetAt: number;
  /** Whole seconds until then, at least 1. */
  readonly resetIn: number;
};

export type RateLimiter = Disposable & {
  /** Counts one request of a key against its limit; a refused one is not counted. */
  take(keyId: string, limit: number): Allowance;
  /** Takes a counted request back. */
  giveBack(keyId: string, limit: number): Allowance;
  /** Starts to share counts with the other processes. */
  share(connection: NatsConnection): void;
};

const Counted = z.object({
  node: z.string(),
  window: z.int(),
  counts: z.array(z.tuple([z.string(), z.int()])),
});

export const createRateLimiter = (clock: Clock): RateLimiter => {
  const node = randomUUID();
  let window = 0;
  /** Used in this window, here and, as far as heard, elsewhere. */
  const used = new Map<string, number>();
  /** Counted here and not yet told. */
  const untold = new Map<string, number>();
  let connection: NatsConnection | undefined;
  let subscription: Subscription | undefined;

  const enter = (now: number): void => {
    const current = Math.floor(now / WINDOW_MS);
    if (current === window) return;
    window = current;
    used.clear();
    untold.clear();
  };

  const allowanceAt = (now: number, allowed: boolean, limit: number, count: number): Allowance => {
    const endsAt = (window + 1) * WINDOW_MS;
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetAt: endsAt / 1_000,
      resetIn: Math.max(1, Math.ceil((endsAt - now) / 1_000)),
    };
  };

  const count = (keyId: string, limit: number, by: 1 | -1): Allowance => {
    const now = clock.now().getTime();
    enter(now);
    const before = used.get(keyId) ?? 0;
    if (by > 0 && before >= limit) return allowanceAt(now, false, limit, before);
    const after = Math.max(0, before + by);
    used.set(keyId, after);
    if (connection) untold.set(keyId, (untold.get(keyId) ?? 0) + by);
    return allowanceAt(now, true, limit, after);
  };

  const tell = (): void => {
    if (!connection || connection.isClosed() || untold.size === 0) return;
    const counts = [...untold].filter(([, delta]) => delta !== 0);
    untold.clear();
    for (let from = 0; from < counts.length; from += KEYS_PER_MESSAGE) {
      const message = { node, window, counts: counts.slice(from, from + KEYS_PER_MESSAGE) };
      connection.publish(SUBJECT, JSON.stringify(message));
    }
  };

  const hear = (text: string): void => {
    enter(clock.now().getTime());
    const message = Counted.safeParse(JSON.parse(text));
    if (!message.success || message.data.node === node || message.data.window !== window) return;
    for (const [keyId, delta] of message.data.counts)
      used.set(keyId, Math.max(0, (used.get(keyId) ?? 0) + delta));
  };

  const telling = setInterval(tell, SHARE_EVERY_MS);
  telling.unref();

  return {
    take: (keyId, limit) => count(keyId, limit, 1),
    giveBack: (keyId, limit) => count(keyId, limit, -1),
    share: (opened) => {
      connection = opened;
      subscription = opened.subscribe(SUBJECT, {
        callback: (error, message) => {
          if (!error) hear(message.string());
        },
      });
    },
    [Symbol.dispose]: () => {
      clearInterval(telling);
      subscription?.unsubscribe();
      connection = undefined;
    },
  };
};
