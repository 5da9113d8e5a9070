import type { NatsConnection } from 'nats';
import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '#application/access/rate-limiter.ts';

const at = (iso: string) => {
  const time = { ms: Date.parse(iso) };
  return { time, clock: { now: () => new Date(time.ms) } };
};

/** In-memory replacement of core NATS: every subscriber receives every message immediately. */
const createBus = () => {
  const subscribers = new Set<(text: string) => void>();
  return {
    connection: {
      isClosed: () => false,
      publish: (_subject: string, text: string) => {
        for (const receive of subscribers) receive(text);
      },
      subscribe: (
        _subject: string,
        { callback }: { callback: (error: null, message: { string: () => string }) => void },
      ) => {
        const receive = (text: string): void => callback(null, { string: () => text });
        subscribers.add(receive);
        return { unsubscribe: () => subscribers.delete(receive) };
      },
    } as unknown as NatsConnection,
  };
};

describe('rate limits', () => {
  test('allow the limit per minute, then refuse until the minute ends', () => {
    const { time, clock } = at('2026-11-20T09:00:10.000Z');
    using limits = createRateLimiter(clock);
    for (let count = 1; count <= 3; count += 1) {
      expect(limits.take('key', 3)).toMatchObject({ allowed: true, remaining: 3 - count });
    }
    const refused = limits.take('key', 3);
    expect(refused).toEqual({
      allowed: false,
      limit: 3,
      remaining: 0,
      resetAt: Date.parse('2026-11-20T09:01:00.000Z') / 1_000,
      resetIn: 50,
    });
    time.ms += 50_000;
    expect(limits.take('key', 3)).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('are counted separately for each key', () => {
    const { clock } = at('2026-11-20T09:00:10.000Z');
    using limits = createRateLimiter(clock);
    limits.take('one', 1);
    limits.take('one', 1);
    expect(limits.take('other', 1).allowed).toBe(true);
  });

  test('remove a request that is given back', () => {
    const { clock } = at('2026-11-20T09:00:10.000Z');
    using limits = createRateLimiter(clock);
    limits.take('key', 2);
    expect(limits.giveBack('key', 2).remaining).toBe(2);
  });

  test('are shared between processes within 250 ms', async () => {
    const { clock } = at('2026-11-20T09:00:10.000Z');
    const { connection } = createBus();
    using one = createRateLimiter(clock);
    using other = createRateLimiter(clock);
    one.share(connection);
    other.share(connection);
    for (let count = 0; count < 4; count += 1) one.take('key', 10);
    other.take('key', 10);
    await expect.poll(() => countRequests(other), { timeout: 60_000 }).toBe(5);
    expect(countRequests(one)).toBe(5);
  });
});

test('a message that is not JSON changes no count and ends no sharing', () => {
  const { clock } = at('2026-11-20T09:00:10.000Z');
  const { connection } = createBus();
  using one = createRateLimiter(clock);
  using other = createRateLimiter(clock);
  one.share(connection);
  other.share(connection);
  for (const text of ['', '{', 'null', '\u0000']) connection.publish('api.requests_counted', text);
  // The last request of a limit is published at once.
  one.take('key', 1);
  expect(other.look('key', 1).allowed).toBe(false);
});

test('a process that does not hear the others allows its share of the limit only', async () => {
  const { time, clock } = at('2026-11-20T09:00:10.000Z');
  const { connection } = createBus();
  using one = createRateLimiter(clock, () => 3);
  using other = createRateLimiter(clock, () => 3);
  using third = createRateLimiter(clock, () => 3);
  const takes = (limits: typeof one, requests: number): number =>
    Array.from({ length: requests }, () => limits.take('key', 30)).filter(({ allowed }) => allowed).length;
  expect(takes(one, 12), 'alone').toBe(10);
  expect(one.look('key', 30)).toMatchObject({ allowed: false, remaining: 0 });
  for (const limits of [one, other, third]) limits.share(connection);
  // Every process is heard when each has published its counts, or that it has none.
  await expect.poll(() => one.look('key', 30).allowed, { timeout: 60_000 }).toBe(true);
  await expect.poll(() => other.look('key', 30).remaining, { timeout: 60_000 }).toBe(30);
  expect(takes(other, 40), 'all that is left').toBe(30);
  time.ms += 60_000;
  await expect.poll(() => one.look('key', 30).remaining, { timeout: 60_000 }).toBe(30);
  third[Symbol.dispose]();
  time.ms += 4_000;
  await expect.poll(() => one.look('key', 30).remaining, { timeout: 60_000 }).toBe(10);
});

/** Returns how many requests of the key count against a limit of 10, without changing the count. */
const countRequests = (limits: ReturnType<typeof createRateLimiter>): number => {
  const { remaining } = limits.take('key', 10);
  limits.giveBack('key', 10);
  return 10 - remaining - 1;
};
