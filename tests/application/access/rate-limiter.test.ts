import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Allowance } from '#application/access/allowance.ts';
import { createRateLimiter, type RateLimiter } from '#application/access/rate-limiter.ts';
import type { ServingGroup } from '#application/access/rights/serving-group.ts';
import { createLog } from '#platform/logger.ts';
import { runs } from '../../property-seed.ts';
import { createSimulatedNats, type Travel } from './simulated-nats.ts';

/** Timers and clock are simulated: a minute takes no time. */
const START = '2026-11-20T09:00:10.000Z';
const PROCESSES = 4;
const WAIT_MAX_MS = 100;
const clock = { now: () => new Date() };

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(START);
});
afterEach(() => {
  vi.useRealTimers();
});

/** A group of `count` processes, seen by the one at `place`; `null` for one that started within the minute. */
const groupOf = (place: number | null, count = PROCESSES): ServingGroup => {
  const live = place === null ? count + 1 : count;
  return { name: 'tests', holders: () => ({ count, place, live, holdersLive: count }) };
};

/** Lets each message arrive twice, with different delays of the messages. */
const arriveTwice = (): Travel => {
  let messages = 0;
  return () => {
    messages += 1;
    return [1 + (messages % 4), 2 + (messages % 4)];
  };
};

/** Starts processes that have heard each other. */
const openProcesses = async (travel?: Travel, count = PROCESSES) => {
  const nats = createSimulatedNats(travel);
  const limiters = Array.from({ length: count }, (_, place) =>
    createRateLimiter(clock, { group: groupOf(place, count) }),
  );
  for (const limiter of limiters) limiter.share(nats.connection);
  await vi.advanceTimersByTimeAsync(1_500);
  return {
    nats,
    limiters,
    at: (place: number): RateLimiter => limiters[place % count] as RateLimiter,
    [Symbol.dispose]: () => {
      for (const limiter of limiters) limiter[Symbol.dispose]();
    },
  };
};

/** Takes requests one after another, `everyMs` apart. Returns the number allowed, and the longest wait in ms. */
const takeMany = async (
  limiterOf: (request: number) => RateLimiter,
  {
    requests,
    limit,
    name = 'caller',
    everyMs = 1,
  }: { requests: number; limit: number; name?: string; everyMs?: number },
) => {
  const pending: Promise<Allowance>[] = [];
  let longestMs = 0;
  for (let request = 0; request < requests; request += 1) {
    const since = Date.now();
    pending.push(
      Promise.resolve(limiterOf(request).take(name, limit)).then((allowance) => {
        longestMs = Math.max(longestMs, Date.now() - since);
        return allowance;
      }),
    );
    if (everyMs > 0) await vi.advanceTimersByTimeAsync(everyMs);
  }
  await vi.advanceTimersByTimeAsync(2 * WAIT_MAX_MS);
  const all = await Promise.all(pending);
  return { allowed: all.filter(({ allowed }) => allowed).length, longestMs, last: all.at(-1) as Allowance };
};

describe('rate limits of one process', () => {
  test('allow the limit per minute, then refuse until the minute ends', async () => {
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
    vi.setSystemTime('2026-11-20T09:01:00.000Z');
    expect(limits.take('key', 3)).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('are counted separately for each key', async () => {
    using limits = createRateLimiter(clock);
    await limits.take('one', 1);
    await limits.take('one', 1);
    expect(limits.take('other', 1)).toMatchObject({ allowed: true });
  });

  test('remove a request that is given back', async () => {
    using limits = createRateLimiter(clock);
    await limits.take('key', 2);
    expect(limits.giveBack('key', 2).remaining).toBe(2);
  });
});

describe('rights to requests', () => {
  test.each([100, 1_000])(
    'of %s go to the process that needs them, one right to one process',
    async (limit) => {
      using processes = await openProcesses();
      const { allowed, longestMs } = await takeMany(() => processes.at(0), { requests: 2 * limit, limit });
      expect(allowed).toBeGreaterThanOrEqual(0.95 * limit);
      expect(allowed).toBeLessThanOrEqual(limit);
      expect(longestMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    },
  );

  test('serve a crowd of requests of one caller at once', async () => {
    using processes = await openProcesses();
    const { allowed } = await takeMany(() => processes.at(0), { requests: 300, limit: 200, everyMs: 0 });
    expect(allowed).toBe(200);
  });

  test('are used without a message while a process has some', async () => {
    using processes = await openProcesses();
    const asked = () => processes.nats.sent.filter((subject) => !subject.endsWith('.counted'));
    for (let count = 0; count < 25; count += 1)
      expect(processes.at(0).take('caller', 100)).not.toBeInstanceOf(Promise);
    expect(asked()).toEqual([]);
    const borrowed = processes.at(0).take('caller', 100);
    expect(borrowed).toBeInstanceOf(Promise);
    // A request of another caller does not wait.
    expect(processes.at(0).take('other', 100)).toMatchObject({ allowed: true });
    await vi.advanceTimersByTimeAsync(5);
    expect(await borrowed).toMatchObject({ allowed: true });
  });

  test('are reported as remaining in the minute, of all processes', async () => {
    using processes = await openProcesses();
    expect(processes.at(0).take('caller', 100)).toMatchObject({ limit: 100, remaining: 99 });
    await takeMany((request) => processes.at(request), { requests: 59, limit: 100 });
    await vi.advanceTimersByTimeAsync(300);
    for (let place = 0; place < PROCESSES; place += 1)
      expect(await processes.at(place).look('caller', 100)).toMatchObject({ remaining: 40 });
  });

  test('are asked for once a second at most when no process has any', async () => {
    using processes = await openProcesses();
    await takeMany(() => processes.at(0), { requests: 110, limit: 100 });
    const before = processes.nats.sent.filter((subject) => subject.endsWith('.asked')).length;
    const { allowed, last } = await takeMany(() => processes.at(0), { requests: 2_000, limit: 100 });
    const asked = processes.nats.sent.filter((subject) => subject.endsWith('.asked')).length - before;
    expect(allowed).toBe(0);
    expect(last).toMatchObject({ allowed: false, remaining: 0 });
    expect(asked).toBeLessThanOrEqual(3);
  });

  test('that are given back serve the next request', async () => {
    using processes = await openProcesses();
    await takeMany((request) => processes.at(request), { requests: 200, limit: 100 });
    expect(processes.at(0).take('caller', 100)).toMatchObject({ allowed: false });
    processes.at(1).giveBack('caller', 100);
    await vi.advanceTimersByTimeAsync(1_000);
    const borrowed = processes.at(0).take('caller', 100);
    await vi.advanceTimersByTimeAsync(5);
    expect(await borrowed).toMatchObject({ allowed: true });
  });

  test('of a process that starts within the minute are borrowed, and its own from the next minute on', async () => {
    using processes = await openProcesses(undefined, 2);
    let place: number | null = null;
    const group: ServingGroup = { name: 'tests', holders: (window) => groupOf(place, 2).holders(window) };
    using late = createRateLimiter(clock, { group });
    late.share(processes.nats.connection);
    await vi.advanceTimersByTimeAsync(10);
    const everywhere = [...processes.limiters, late];
    const all = await takeMany((request) => everywhere[request % 3] as RateLimiter, {
      requests: 300,
      limit: 90,
    });
    expect(all.allowed).toBeGreaterThanOrEqual(90);
    expect(all.allowed).toBeLessThanOrEqual(1.05 * 90);
    vi.setSystemTime('2026-11-20T09:01:00.000Z');
    place = 1;
    expect(late.take('caller', 90)).toMatchObject({ allowed: true });
  });

  test('of processes that start within the minute and hear no other are a small part', async () => {
    const limit = 1_000;
    const others = Array.from({ length: 3 }, (_, place) => groupOf(place, 3));
    const everywhere = [...others, groupOf(null, 3)].map((group) => createRateLimiter(clock, { group }));
    const all = await takeMany((request) => everywhere[request % 4] as RateLimiter, {
      requests: 5 * limit,
      limit,
      everyMs: 0,
    });
    expect(all.allowed).toBeGreaterThanOrEqual(limit);
    expect(all.allowed).toBeLessThanOrEqual(1.1 * limit);
    for (const limiter of everywhere) limiter[Symbol.dispose]();
  });

  test('of a process that starts within the minute are its share once the others are dead', async () => {
    const holders = () => ({ count: 1, place: null, live: 2, holdersLive: 0 });
    using late = createRateLimiter(clock, { group: { name: 'tests', holders } });
    expect((await takeMany(() => late, { requests: 200, limit: 100, everyMs: 0 })).allowed).toBe(50);
  });

  test.each([
    ['all messages are lost', () => null],
    ['messages arrive after the wait', () => 150],
    ['messages arrive twice', arriveTwice()],
  ])('do not double, and no request waits long, when %s', async (_when, travel) => {
    using processes = await openProcesses(travel);
    for (const limiterOf of [(request: number) => processes.at(request), () => processes.at(0)]) {
      const load = { requests: 600, limit: 100, name: limiterOf.toString() };
      const { allowed, longestMs } = await takeMany(limiterOf, load);
      expect(allowed).toBeLessThanOrEqual(100);
      expect(longestMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    }
  });

  test('are the share of each process without NATS, without a wait, and the loss is logged once', async () => {
    const lines: string[] = [];
    const log = createLog('tests', 'info', { write: (line) => void lines.push(line) });
    using limits = createRateLimiter(clock, { group: groupOf(0), log });
    const { allowed, longestMs } = await takeMany(() => limits, { requests: 50, limit: 100, everyMs: 200 });
    expect([allowed, longestMs]).toEqual([25, 0]);
    expect(lines.filter((line) => line.includes('not heard'))).toHaveLength(1);
  });

  test('survive messages that are not JSON or have another shape', async () => {
    using processes = await openProcesses();
    const forged = [
      '',
      '{',
      'null',
      '\u0000',
      '[]',
      '{"node":"forged","window":1}',
      '{"node":"forged","window":1,"ask":1,"rights":-5}',
      '{"node":"forged","window":1,"ask":"1","rights":5}',
      '{"node":"forged","window":1,"ask":1,"name":"caller","limit":1e99}',
      '{"node":"forged","window":1,"counts":[["caller"]]}',
    ];
    for (const subject of processes.nats.subjects())
      for (const text of forged) processes.nats.publish(subject, text);
    await vi.advanceTimersByTimeAsync(10);
    const { allowed } = await takeMany(() => processes.at(0), { requests: 150, limit: 100 });
    expect(allowed).toBe(100);
  });
});

describe('the law of limits', () => {
  const load = fc.record({
    limit: fc.constantFrom(3, 100, 1_000),
    /** Weights of the processes: load on one, even, and skewed. */
    weights: fc.constantFrom([1, 0, 0, 0], [1, 1, 1, 1], [20, 3, 2, 1], [5, 5, 1, 0]),
    everyMs: fc.constantFrom(0, 1, 3),
    delays: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 50 }),
    /** Every n-th message is lost; 0 for none. */
    losesEach: fc.constantFrom(0, 0, 3, 10),
  });

  test('holds for four processes under any load and network: at most the limit, and nearly all of it', async () => {
    await fc.assert(
      fc.asyncProperty(
        load,
        fc.infiniteStream(fc.nat()),
        async ({ limit, weights, everyMs, delays, losesEach }, draws) => {
          vi.setSystemTime(START);
          let message = 0;
          using processes = await openProcesses(() => {
            message += 1;
            return losesEach > 0 && message % losesEach === 0 ? null : (delays[message % delays.length] ?? 0);
          });
          const places = weights.flatMap((weight, place) => Array.from({ length: weight }, () => place));
          const next = (): RateLimiter =>
            processes.at(places[(draws.next().value ?? 0) % places.length] ?? 0);
          const { allowed, longestMs } = await takeMany(next, {
            requests: Math.max(60, 3 * limit),
            limit,
            everyMs,
          });
          expect(allowed).toBeLessThanOrEqual(limit);
          expect(longestMs).toBeLessThanOrEqual(WAIT_MAX_MS);
          // A crowd that comes at once waits for what can be borrowed in 100 ms.
          if (losesEach === 0 && everyMs > 0)
            expect(allowed).toBeGreaterThanOrEqual(Math.floor(0.95 * limit));
        },
      ),
      { numRuns: runs(15) },
    );
  });
});
