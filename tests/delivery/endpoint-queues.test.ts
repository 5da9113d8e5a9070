import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClaimedDelivery } from '#application/delivery-outbox/claim.ts';
import {
  IN_FLIGHT_MAX,
  LOAD_MAX,
  openLanes,
  RETRIES_IN_FLIGHT_MAX,
} from '#services/delivery/endpoint-queues.ts';

const PER_ENDPOINT = 16;
const OF_FAILING = 2;
let made = 0;

const to = (endpoint: string, isRetry = false): ClaimedDelivery => ({
  deliveryId: `${endpoint}-${++made}`,
  workspaceId: 'ws_lanes',
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

/** Lanes whose attempts end when the test says so. */
const openHeld = () => {
  const started: ClaimedDelivery[] = [];
  const ends = new Map<string, (arrived: boolean) => void>();
  const dependencies: string[] = [];
  const lanes = openLanes({
    attempt: (delivery) => {
      started.push(delivery);
      return new Promise((resolve) => ends.set(delivery.deliveryId, resolve));
    },
    hasCapacity: (endpoint) => void dependencies.push(endpoint),
  });
  const end = async ({ deliveryId }: ClaimedDelivery, arrived = true): Promise<void> => {
    ends.get(deliveryId)?.(arrived);
    ends.delete(deliveryId);
    // The lanes go on in the turns after the attempt's end.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const inFlight = () => started.filter(({ deliveryId }) => ends.has(deliveryId));
  return { lanes, started, end, inFlight, dependencies };
};

test('an endpoint has so many on their way and no more, in order', async () => {
  const { lanes, started, end } = openHeld();
  const all = many(40, () => to('a'));
  expect(lanes.offer(all)).toEqual([]);
  expect(started).toEqual(all.slice(0, PER_ENDPOINT));
  await end(all[3] ?? to(''));
  expect(started).toEqual(all.slice(0, PER_ENDPOINT + 1));
});

test('one that fails is asked carefully until something arrives', async () => {
  const { lanes, started, end, inFlight } = openHeld();
  lanes.offer(many(100, () => to('a')));
  for (const delivery of started.slice(0, PER_ENDPOINT)) await end(delivery, false);
  expect(inFlight()).toHaveLength(OF_FAILING);
  const [next] = inFlight();
  if (next) await end(next, true);
  expect(inFlight()).toHaveLength(PER_ENDPOINT);
});

test('retries leave slots for first attempts', () => {
  const { lanes, started } = openHeld();
  lanes.offer(many(2 * IN_FLIGHT_MAX, (n) => to(`retry${n % 100}`, true)));
  expect(started).toHaveLength(RETRIES_IN_FLIGHT_MAX);
  lanes.offer([to('first')]);
  expect(started.at(-1)?.endpoint).toBe('first');
});

test('one that hangs is no load that keeps others from being fetched, and its surplus is given back', async () => {
  const { lanes, started, end, dependencies } = openHeld();
  const refused = lanes.offer(many(5_000, () => to('hangs')));
  expect(refused.length).toBeGreaterThan(4_000);
  lanes.gaveBack(['hangs']);
  expect(lanes.overflowed()).toEqual(['hangs']);
  expect(lanes.load()).toBeLessThan(LOAD_MAX / 20);
  lanes.offer([to('other')]);
  expect(started.at(-1)?.endpoint).toBe('other');
  expect(dependencies).toEqual([]);
  for (let n = 0; lanes.overflowed().length > 0; n += 1) await end(started[n] ?? to(''), true);
  expect(dependencies).toEqual(['hangs']);
  // Given back when nothing of it waits here any more: it is fetched at once.
  lanes.gaveBack(['gone']);
  expect(dependencies).toEqual(['hangs', 'gone']);
});

test('what was cancelled while it waited is not sent', async () => {
  const { lanes, started, end } = openHeld();
  const all = many(PER_ENDPOINT + 2, () => to('a'));
  lanes.offer(all);
  lanes.drop(new Set(all.slice(PER_ENDPOINT, PER_ENDPOINT + 1).map(({ deliveryId }) => deliveryId)));
  await end(all[0] ?? to(''));
  await end(all[1] ?? to(''));
  expect(started.slice(PER_ENDPOINT)).toEqual(all.slice(PER_ENDPOINT + 1));
});

test('whatever comes and however it ends, everything is sent once within the limits', async () => {
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
      const { lanes, started, end, inFlight } = openHeld();
      const offered: ClaimedDelivery[] = [];
      for (const { endpoint, isRetry, count } of offers) {
        const some = many(count, () => to(`e${endpoint}`, isRetry));
        const refused = new Set(lanes.offer(some));
        offered.push(...some.filter((one) => !refused.has(one)));
      }
      for (let flying = inFlight(); flying.length > 0; flying = inFlight()) {
        expect(flying.length).toBeLessThanOrEqual(IN_FLIGHT_MAX);
        expect(flying.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(
          RETRIES_IN_FLIGHT_MAX,
        );
        const most = Math.max(
          ...[...Map.groupBy(flying, ({ endpoint }) => endpoint).values()].map((one) => one.length),
        );
        expect(most).toBeLessThanOrEqual(PER_ENDPOINT);
        await Promise.all(flying.map((delivery) => end(delivery, outcomes.next().value ?? true)));
      }
      expect(started.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(
        offered.map(({ deliveryId }) => deliveryId).toSorted(),
      );
      await lanes.close();
    }),
    { numRuns: 40 },
  );
});
