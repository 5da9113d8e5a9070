import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';
import {
  IN_FLIGHT_MAX,
  IN_FLIGHT_OF_WORKSPACE_MAX,
  LOAD_MAX,
  createEndpointQueues,
  RETRIES_IN_FLIGHT_MAX,
} from '#services/delivery/endpoints/endpoint-queues.ts';
import { runs } from '#tests/property-seed.ts';

const PER_ENDPOINT = 16;
/** Sends at once before the first success, and after a failure. */
const AT_FIRST = 2;
const PAUSE_MAX_MS = 2_000;
let made = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const to = (endpoint: string, isRetry = false): ClaimedDelivery => ({
  deliveryId: `${endpoint}-${++made}`,
  workspaceId: `ws_${endpoint.at(-1)}`,
  alertId: 'alert',
  kind: 'alert',
  endpoint,
  attempts: isRetry ? 1 : 0,
  attemptsBefore: 0,
  target: { channel: 'webhook', url: `https://${endpoint}.shop.example/` },
  payload: Buffer.from('{}'),
});
const many = (count: number, make: (n: number) => ClaimedDelivery) =>
  Array.from({ length: count }, (_, n) => make(n));

/** Opens queues whose attempts the test ends. */
const openControlledQueues = () => {
  const started: ClaimedDelivery[] = [];
  const ends = new Map<string, (arrived: boolean | null) => void>();
  const refilled: string[] = [];
  const queues = createEndpointQueues({
    attempt: (delivery) => {
      started.push(delivery);
      return new Promise((resolve) => ends.set(delivery.deliveryId, resolve));
    },
    hasCapacity: (endpoint) => void refilled.push(endpoint),
    chance: () => 0,
  });
  const end = async ({ deliveryId }: ClaimedDelivery, arrived: boolean | null = true): Promise<void> => {
    ends.get(deliveryId)?.(arrived);
    ends.delete(deliveryId);
    // Queues continue after the promise of an attempt.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const inFlight = () => started.filter(({ deliveryId }) => ends.has(deliveryId));
  const prove = async (endpoint: string, workspaceId = `ws_${endpoint.at(-1)}`): Promise<void> => {
    const some = many(PER_ENDPOINT, () => ({ ...to(endpoint), workspaceId }));
    queues.offer(some);
    for (const delivery of some) await end(delivery);
    started.length = 0;
  };
  return { queues, started, end, inFlight, refilled, prove };
};

test('sends to a new endpoint two at once, and one more for each that arrives, up to its limit', async () => {
  const { queues, started, end, inFlight } = openControlledQueues();
  const all = many(100, () => to('a'));
  queues.offer(all);
  for (let limit = AT_FIRST; limit <= PER_ENDPOINT; limit += 1) {
    expect(inFlight()).toHaveLength(limit);
    await end(inFlight()[0] ?? to(''));
  }
  expect(inFlight()).toHaveLength(PER_ENDPOINT);
  expect(started).toEqual(all.slice(0, started.length));
});

test('sends to an endpoint up to its concurrency limit, in order', async () => {
  const { queues, started, end, prove } = openControlledQueues();
  await prove('a');
  const all = many(40, () => to('a'));
  expect(queues.offer(all)).toEqual([]);
  expect(started).toEqual(all.slice(0, PER_ENDPOINT));
  await end(all[3] ?? to(''));
  expect(started).toEqual(all.slice(0, PER_ENDPOINT + 1));
});

test('lowers the limit of a failing endpoint, and raises it with deliveries that arrive', async () => {
  const { queues, started, end, inFlight, prove } = openControlledQueues();
  await prove('a');
  queues.offer(many(100, () => to('a')));
  for (const delivery of started.slice(0, PER_ENDPOINT)) await end(delivery, false);
  expect(inFlight()).toEqual([]);
  await vi.advanceTimersByTimeAsync(AT_FIRST * PAUSE_MAX_MS);
  expect(inFlight()).toHaveLength(AT_FIRST);
  for (let limit = AT_FIRST + 1; limit <= PER_ENDPOINT; limit += 1) {
    await end(inFlight()[0] ?? to(''), true);
    expect(inFlight()).toHaveLength(limit);
  }
});

test('sends to a failing endpoint one at a time, with pauses that double', async () => {
  const { queues, started, end } = openControlledQueues();
  queues.offer(many(100, () => to('a')));
  await end(started[1] ?? to(''), false);
  await end(started[0] ?? to(''), false);
  const gaps: number[] = [];
  for (let count = 3; count <= 9; count += 1) {
    const since = performance.now();
    while (started.length < count) await vi.advanceTimersByTimeAsync(1);
    gaps.push(performance.now() - since);
    await end(started.at(-1) ?? to(''), false);
  }
  expect(gaps).toEqual([100, 200, 400, 800, 1_600, PAUSE_MAX_MS, PAUSE_MAX_MS]);
});

test('what was not sent changes neither the limit of its endpoint nor the pauses after failures', async () => {
  const { queues, started, end, inFlight } = openControlledQueues();
  queues.offer(many(100, () => to('a')));
  for (let n = 0; n < PER_ENDPOINT; n += 1) await end(started[n] ?? to(''), null);
  expect(inFlight()).toHaveLength(AT_FIRST);
  for (const delivery of inFlight()) await end(delivery, false);
  await vi.advanceTimersByTimeAsync(PAUSE_MAX_MS);
  for (const delivery of inFlight()) await end(delivery, null);
  // A failing endpoint gets one at a time.
  expect(inFlight()).toHaveLength(1);
});

test('a pause of one endpoint holds up no other', async () => {
  const { queues, started, end } = openControlledQueues();
  queues.offer(many(100, () => to('fails')));
  for (const delivery of started.slice(0, AT_FIRST)) await end(delivery, false);
  const others = many(AT_FIRST, () => to('other'));
  queues.offer(others);
  expect(started.slice(AT_FIRST)).toEqual(others);
});

test('what is queued while its endpoint pauses can be dropped, and what comes then is sent', async () => {
  const { queues, started, end, inFlight } = openControlledQueues();
  queues.offer(many(AT_FIRST + 1, () => to('a')));
  for (const delivery of started.slice(0, AT_FIRST)) await end(delivery, false);
  queues.drop(new Set(queues.waiting().map(({ deliveryId }) => deliveryId)));
  const later = to('a');
  queues.offer([later]);
  expect(queues.waiting()).toEqual([later]);
  await vi.advanceTimersByTimeAsync(PAUSE_MAX_MS);
  expect(inFlight()).toEqual([later]);
});

test('reserves slots for first attempts', () => {
  const { queues, started } = openControlledQueues();
  queues.offer(many(2 * IN_FLIGHT_MAX, (n) => to(`retry${n % 300}`, true)));
  expect(started).toHaveLength(RETRIES_IN_FLIGHT_MAX);
  queues.offer([to('first')]);
  expect(started.at(-1)?.endpoint).toBe('first');
});

test('counts an endpoint that hangs as little load and refuses its surplus', async () => {
  const { queues, started, end, refilled } = openControlledQueues();
  const refused = queues.offer(many(5_000, () => to('hangs')));
  expect(refused.length).toBeGreaterThan(4_000);
  queues.gaveBack(new Map([['hangs', 'ws_s']]));
  expect(queues.overflowed()).toEqual(['hangs']);
  expect(queues.load()).toBeLessThan(LOAD_MAX / 20);
  queues.offer([to('other')]);
  expect(started.at(-1)?.endpoint).toBe('other');
  expect(refilled).toEqual([]);
  for (let n = 0; queues.overflowed().length > 0; n += 1) await end(started[n] ?? to(''), true);
  expect(refilled).toEqual(['hangs']);
  // Nothing is queued, so the endpoint is refilled at once.
  queues.gaveBack(new Map([['gone', 'ws_e']]));
  expect(refilled).toEqual(['hangs', 'gone']);
});

test('has no places at a turn while more than half of them are taken, and reports once half are free', async () => {
  const { queues, started, end, refilled } = openControlledQueues();
  expect(queues.placesAtTurn('a', 64)).toBe(64);
  queues.offer(many(AT_FIRST + 64, () => to('a')));
  expect(queues.placesAtTurn('a', 64)).toBe(0);
  // With more places, less than half are taken.
  expect(queues.placesAtTurn('a', 512)).toBe(512 - 64);
  for (let n = 0; refilled.length === 0; n += 1) await end(started[n] ?? to(''));
  expect(queues.waiting()).toHaveLength(32);
  expect(queues.placesAtTurn('a', 64)).toBe(32);
});

test('sends of one workspace to many endpoints leave slots to others, and all are sent in the end', async () => {
  const { queues, started, end, inFlight, prove } = openControlledQueues();
  const endpoints = 4 * (IN_FLIGHT_OF_WORKSPACE_MAX / PER_ENDPOINT);
  for (let n = 0; n < endpoints; n += 1) await prove(`e${n}`, 'ws_crowd');
  const own = (n: number) => ({ ...to(`e${n % endpoints}`), workspaceId: 'ws_crowd' });
  const all = many(8 * IN_FLIGHT_OF_WORKSPACE_MAX, own);
  expect(queues.offer(all)).toEqual([]);
  expect(inFlight()).toHaveLength(IN_FLIGHT_OF_WORKSPACE_MAX);
  const other = to('other');
  queues.offer([other]);
  expect(started.at(-1)).toBe(other);
  for (let sending = inFlight(); sending.length > 0; sending = inFlight()) {
    for (const delivery of sending.slice(0, 50)) await end(delivery);
    expect(inFlight().length).toBeLessThanOrEqual(IN_FLIGHT_OF_WORKSPACE_MAX + 1);
  }
  expect(new Set(started)).toEqual(new Set([...all, other]));
});

test('e-mails of one workspace do not hold up those of another, and all together stay within the limit', async () => {
  const { queues, started, end, inFlight } = openControlledQueues();
  const mailOf = (workspaceId: string): ClaimedDelivery => ({
    ...to(`email:${workspaceId}`),
    workspaceId,
    target: { channel: 'email', member_id: 'mem' },
  });
  const all = [...many(40, () => mailOf('ws_many')), mailOf('ws_two'), mailOf('ws_one')];
  expect(queues.offer(all)).toEqual([]);
  const ended: ClaimedDelivery[] = [];
  for (let sending = inFlight(); sending.length > 0; sending = inFlight()) {
    expect(sending.length).toBeLessThanOrEqual(4);
    const [first] = sending;
    await end(first ?? to(''));
    ended.push(first ?? to(''));
  }
  const sentBefore = (workspaceId: string): number =>
    started.findIndex((delivery) => delivery.workspaceId === workspaceId);
  expect(sentBefore('ws_two')).toBeLessThanOrEqual(6);
  expect(sentBefore('ws_one')).toBeLessThanOrEqual(6);
  expect(new Set(ended)).toEqual(new Set(all));
});

test('has few places for e-mails of one workspace, and a limit for those of all', () => {
  const { queues } = openControlledQueues();
  const mailOf = (workspaceId: string): ClaimedDelivery => ({
    ...to(`email:${workspaceId}`),
    workspaceId,
    target: { channel: 'email', member_id: 'mem' },
  });
  expect(queues.placesAtTurn('email:ws_0', 512)).toBe(16);
  for (let n = 0; queues.emailPlaces() > 0; n += 1)
    expect(queues.offer(many(Math.min(16, queues.emailPlaces()), () => mailOf(`ws_${n}`)))).toEqual([]);
  expect(queues.placesAtTurn('email:ws_new', 512)).toBe(0);
  expect(queues.offer([mailOf('ws_new')])).toHaveLength(1);
  queues.drop(new Set(queues.waiting().map(({ deliveryId }) => deliveryId)));
  expect(queues.emailPlaces()).toBe(512);
});

test('does not send a delivery that was dropped while queued', async () => {
  const { queues, started, end, prove } = openControlledQueues();
  await prove('a');
  const all = many(PER_ENDPOINT + 2, () => to('a'));
  queues.offer(all);
  queues.drop(new Set(all.slice(PER_ENDPOINT, PER_ENDPOINT + 1).map(({ deliveryId }) => deliveryId)));
  await end(all[0] ?? to(''));
  await end(all[1] ?? to(''));
  expect(started.slice(PER_ENDPOINT)).toEqual(all.slice(PER_ENDPOINT + 1));
});

test('sends everything once within the limits, for any order of offers and outcomes', async () => {
  const Offers = fc.array(
    fc.record({
      endpoint: fc.integer({ min: 0, max: 60 }),
      isRetry: fc.boolean(),
      count: fc.integer({ min: 1, max: 40 }),
    }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(Offers, fc.infiniteStream(fc.boolean()), async (offers, outcomes) => {
      const { queues, started, end, inFlight } = openControlledQueues();
      const offered: ClaimedDelivery[] = [];
      for (const { endpoint, isRetry, count } of offers) {
        const some = many(count, () => to(`e${endpoint}`, isRetry));
        const refused = new Set(queues.offer(some));
        offered.push(...some.filter((one) => !refused.has(one)));
      }
      for (let inFlightNow = inFlight(); inFlightNow.length > 0; inFlightNow = inFlight()) {
        expect(inFlightNow.length).toBeLessThanOrEqual(IN_FLIGHT_MAX);
        expect(inFlightNow.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(
          RETRIES_IN_FLIGHT_MAX,
        );
        const most = Math.max(
          ...[...Map.groupBy(inFlightNow, ({ endpoint }) => endpoint).values()].map((one) => one.length),
        );
        expect(most).toBeLessThanOrEqual(PER_ENDPOINT);
        for (const one of Map.groupBy(inFlightNow, ({ workspaceId }) => workspaceId).values())
          expect(one.length).toBeLessThanOrEqual(IN_FLIGHT_OF_WORKSPACE_MAX);
        await Promise.all(inFlightNow.map((delivery) => end(delivery, outcomes.next().value ?? true)));
        if (inFlight().length === 0) await vi.advanceTimersByTimeAsync(PAUSE_MAX_MS);
      }
      expect(started.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(
        offered.map(({ deliveryId }) => deliveryId).toSorted(),
      );
      await queues.close();
    }),
    { numRuns: runs(40) },
  );
});
