import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LIVE_KEY } from '#application/access/key-format.ts';
import {
  createRefusedRequests,
  createRequestCounts,
  NAMES_MAX,
  type RequestCounts,
} from '#application/access/request-counts.ts';
import { runs } from '../../property-seed.ts';
import type { NatsConnection } from 'nats';

/** Milliseconds until each copy of a message arrives; `null`: lost. */
type Travel = (subject: string) => number | readonly number[] | null;

/** NATS server in memory: each message arrives after the time that `travel` returns, or never. */
const createSimulatedNats = (travel: Travel = () => 1, flushMs = 5) => {
  const subscribers = new Map<string, Set<(text: string) => void>>();
  const sent: string[] = [];
  const publish = (subject: string, text: string): void => {
    sent.push(subject);
    const deliver = (): void => {
      for (const receive of subscribers.get(subject) ?? []) receive(text);
    };
    for (const delayMs of [travel(subject) ?? []].flat()) setTimeout(deliver, delayMs);
  };
  let isSilent = false;
  const connection = {
    isClosed: () => false,
    flush: () =>
      isSilent
        ? new Promise<void>(() => undefined)
        : new Promise<void>((resolve) => void setTimeout(resolve, flushMs)),
    publish,
    subscribe: (
      subject: string,
      { callback }: { callback: (error: null, message: { string: () => string }) => void },
    ) => {
      const receive = (text: string): void => callback(null, { string: () => text });
      const all = subscribers.get(subject) ?? new Set();
      subscribers.set(subject, all.add(receive));
      return { unsubscribe: () => all.delete(receive) };
    },
  } as unknown as NatsConnection;
  return {
    connection,
    publish,
    silence: () => {
      isSilent = true;
    },
    sent,
    subjects: (): readonly string[] => [...subscribers.keys()],
  };
};

const takeHeard = async (counts: RequestCounts, limit: number): Promise<boolean> => {
  for (let hearing = counts.hearing('caller', limit); hearing; hearing = counts.hearing('caller', limit))
    await hearing;
  return counts.take('caller', limit).allowed;
};

/** Simulated start time, so that a minute takes no time. */
const START = '2026-11-20T09:00:10.000Z';
const PROCESSES = 4;
const clock = { now: () => new Date() };

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(START);
});
afterEach(() => void vi.useRealTimers());

const openProcesses = (travel?: Travel, count = PROCESSES) => {
  const nats = createSimulatedNats(travel);
  const start = (): RequestCounts => {
    const counts = createRequestCounts(clock);
    counts.share(nats.connection, 'tests');
    return counts;
  };
  const all = Array.from({ length: count }, start);
  return {
    nats,
    start,
    all,
    [Symbol.dispose]: () => {
      for (const one of all) one[Symbol.dispose]();
    },
  };
};

const allowedOf = (counts: RequestCounts, requests: number, limit: number): number => {
  let allowed = 0;
  for (let request = 0; request < requests; request += 1)
    if (counts.take('caller', limit).allowed) allowed += 1;
  return allowed;
};

describe('request counts of one process', () => {
  test('allow the limit per minute, then refuse until the minute ends', () => {
    using counts = createRequestCounts(clock);
    expect(counts.take('caller', 2)).toEqual({
      allowed: true,
      limit: 2,
      remaining: 1,
      resetAt: Date.parse('2026-11-20T09:01:00Z') / 1_000,
      resetIn: 50,
    });
    expect(counts.take('caller', 2)).toMatchObject({ allowed: true, remaining: 0 });
    expect(counts.take('caller', 2)).toMatchObject({ allowed: false, remaining: 0 });
    expect(counts.take('other', 2).allowed).toBe(true);
    vi.advanceTimersByTime(50_000);
    expect(counts.take('caller', 2)).toMatchObject({ allowed: true, remaining: 1, resetIn: 60 });
  });

  test('do not have a request that was given back', () => {
    using counts = createRequestCounts(clock);
    expect(counts.take('caller', 1).allowed).toBe(true);
    counts.giveBack('caller');
    expect(counts.take('caller', 1).allowed).toBe(true);
    expect(counts.take('caller', 1).allowed).toBe(false);
  });
});

describe('request counts of several processes', () => {
  test('reach the others within a quarter of a second, less those that are given back', async () => {
    using processes = openProcesses();
    const [one, other] = processes.all as [RequestCounts, RequestCounts];
    one.take('caller', 1_000);
    one.take('caller', 1_000);
    one.giveBack('caller');
    await vi.advanceTimersByTimeAsync(300);
    expect(other.take('caller', 1_000).remaining).toBe(998);
  });

  test('reach a process that starts within the minute', async () => {
    using processes = openProcesses();
    for (const one of processes.all) one.take('caller', 1_000);
    await vi.advanceTimersByTimeAsync(10);
    using late = processes.start();
    await vi.advanceTimersByTimeAsync(300);
    expect(late.take('caller', 1_000).remaining).toBe(1_000 - PROCESSES - 1);
  });

  test('survive messages that are not JSON or have another shape', async () => {
    using processes = openProcesses();
    const [one] = processes.all as [RequestCounts];
    const texts = [
      '',
      '{',
      'null',
      '[]',
      '{"node":"a"}',
      '{"node":"a","window":1.5,"isNew":false,"counts":[]}',
    ];
    for (const text of texts)
      for (const subject of processes.nats.subjects()) processes.nats.publish(subject, text);
    await vi.advanceTimersByTimeAsync(10);
    expect(one.take('caller', 2).remaining).toBe(1);
  });

  test('allow a tenth more than the limit at most, under any load, while messages take up to 4 ms', async () => {
    const load = fc.record({
      limit: fc.constantFrom(100, 600, 3_000),
      weights: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: PROCESSES, maxLength: PROCESSES }),
      delays: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      perMs: fc.constantFrom(1, 8, 200, 100_000),
    });
    await fc.assert(
      fc.asyncProperty(load, async ({ limit, weights, delays, perMs }) => {
        vi.setSystemTime(START);
        let messages = 0;
        using processes = openProcesses(() => delays[(messages += 1) % delays.length] ?? 1);
        await vi.advanceTimersByTimeAsync(300);
        const places = weights.flatMap((weight, place) => Array.from({ length: weight }, () => place));
        if (places.length === 0) places.push(0);
        const taken: Promise<boolean>[] = [];
        for (let request = 0; request < 2 * limit; request += 1) {
          const counts = processes.all[places[request % places.length] ?? 0];
          if (counts) taken.push(takeHeard(counts, limit));
          if (request % perMs === 0) await vi.advanceTimersByTimeAsync(1);
        }
        await vi.advanceTimersByTimeAsync(1_000);
        const allowed = (await Promise.all(taken)).filter(Boolean).length;
        expect(allowed).toBeGreaterThanOrEqual(limit);
        expect(allowed).toBeLessThanOrEqual(1.1 * limit);
      }),
      { numRuns: runs(30) },
    );
  });

  test('do not hold up requests while NATS is silent', async () => {
    using processes = openProcesses(() => null, 1);
    const [one] = processes.all as [RequestCounts];
    processes.nats.silence();
    const taken = Array.from({ length: 200 }, () => takeHeard(one, 100));
    await vi.advanceTimersByTimeAsync(600);
    expect((await Promise.all(taken)).filter(Boolean)).toHaveLength(100);
  });

  test('are those of each process alone without NATS', () => {
    using one = createRequestCounts(clock);
    using other = createRequestCounts(clock);
    expect([allowedOf(one, 10, 5), allowedOf(other, 10, 5)]).toEqual([5, 5]);
  });
});

describe('requests without a valid key', () => {
  const PER_MINUTE = 3;
  const open = () => {
    const counts = createRequestCounts(clock);
    const refused = createRefusedRequests(counts, 'api', PER_MINUTE);
    const isLimited = (address: string, keyText?: string): boolean => {
      const entered = refused.enter(address, keyText);
      if (entered !== null && typeof entered !== 'string') return true;
      refused.refuse(address, keyText, entered);
      return false;
    };
    const passes = (address: string, keyText: string): boolean => {
      const entered = refused.enter(address, keyText);
      if (entered !== null && typeof entered !== 'string') return false;
      refused.accept(keyText, entered);
      return true;
    };
    const exhaust = (address: string): void => {
      for (let count = 0; count < PER_MINUTE; count += 1) expect(isLimited(address)).toBe(false);
    };
    return { counts, refused, isLimited, passes, exhaust, [Symbol.dispose]: () => counts[Symbol.dispose]() };
  };

  test('are limited by address until the minute ends', () => {
    using requests = open();
    requests.exhaust('192.0.2.1');
    expect(requests.isLimited('192.0.2.1')).toBe(true);
    expect(requests.isLimited('::ffff:192.0.2.1')).toBe(true);
    expect(requests.isLimited('192.0.2.2')).toBe(false);
    vi.advanceTimersByTime(50_000);
    expect(requests.isLimited('192.0.2.1')).toBe(false);
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8::1', '2001:db8:0:0:5:6:7:8', true],
    ['::1', '0:0:0:0:1::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ])('count %s and %s together: %s', (one, other, together) => {
    using requests = open();
    requests.exhaust(one);
    expect(requests.isLimited(other)).toBe(together);
  });

  test('do not hold up a valid key behind the same address, until it is refused', () => {
    using requests = open();
    const [key, other] = [LIVE_KEY.create(), LIVE_KEY.create()];
    expect(requests.passes('192.0.2.1', key)).toBe(true);
    requests.exhaust('192.0.2.1');
    expect(requests.passes('192.0.2.1', key)).toBe(true);
    expect(requests.passes('192.0.2.1', other)).toBe(false);
    expect(requests.isLimited('192.0.2.1', key)).toBe(false);
    expect(requests.passes('192.0.2.1', key)).toBe(false);
  });

  test('are not counted when the key is valid, or could not be checked', () => {
    using requests = open();
    for (let count = 0; count < 2 * PER_MINUTE; count += 1) {
      expect(requests.passes('192.0.2.1', LIVE_KEY.create())).toBe(true);
      const entered = requests.refused.enter('192.0.2.1', LIVE_KEY.create());
      expect(entered).toBeTypeOf('string');
      requests.refused.cancel(entered as string);
    }
    expect(requests.isLimited('192.0.2.1')).toBe(false);
  });

  test('have a bounded number of counts', () => {
    using requests = open();
    for (let place = 0; place < NAMES_MAX + 100; place += 1)
      requests.isLimited(`10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`);
    expect(requests.counts.size()).toBe(NAMES_MAX);
  });
});
