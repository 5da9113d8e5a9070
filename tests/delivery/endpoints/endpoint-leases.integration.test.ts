import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claimOfEndpoints } from '#application/delivery-outbox/claim.ts';
import {
  deleteUnusedLeases,
  ENDPOINT_LEASE_MS,
  releaseEndpointLeases,
} from '#application/delivery-outbox/endpoint-leases.ts';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { silentLog } from '#platform/logger.ts';
import { sweepEndpoints } from '#services/delivery/sweep-endpoints.ts';
import type { Worker } from '#services/delivery/worker.ts';
import { until } from '#tests/stack/wait-until.ts';
import { newDelivery } from '../new-delivery.ts';
import { openReceivers, type Receivers } from '../receivers.ts';
import { type DeliveryStack, openDeliveryStack } from '../stack.ts';

const IN_FLIGHT = 16;
/** Due deliveries: so many that every worker could have some. */
const DUE = 200;
const ANSWER_MS = 30;
const LIMIT_MS = 120_000;

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

let path: string;
let count = 0;
beforeEach(() => {
  count += 1;
  path = `/endpoint/${count}`;
});

const target = () => ({ channel: 'webhook', url: receivers.url + path }) as const;
const queue = async (deliveries: number): Promise<void> => {
  const rule = stack.rule();
  await stack.enqueue(
    ...Array.from({ length: deliveries }, () => newDelivery(rule, target(), stack.clock.now())),
  );
};
const arrived = (): number => receivers.at(path).length;
const claimAndVanish = () =>
  claimOfEndpoints(
    stack.pool,
    { workerId: 'gone', now: stack.clock.now(), leaseNow: stack.clock.now(), unreadable: () => undefined },
    [{ endpoint: endpointOf(target(), ''), places: 1 }],
  );
const ownerOf = async (): Promise<string | null> => {
  const { rows } = await stack.pool.query<{ owner: string | null }>(
    'select owner from delivery.endpoint_lease where endpoint = $1',
    [endpointOf(target(), '')],
  );
  return rows[0]?.owner ?? null;
};

test('workers together send no more to an endpoint at once than one may', { timeout: LIMIT_MS }, async () => {
  let [open, most] = [0, 0];
  receivers.behave(path, (response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.writeHead(204).end();
    }, ANSWER_MS);
  });
  await queue(DUE);
  const workers: readonly Worker[] = Array.from({ length: 3 }, () => stack.worker());
  const ending = new AbortController();
  const sweeping = workers.map((worker) => sweepEndpoints(worker, silentLog(), ending.signal));
  await until('all sent', LIMIT_MS, () => arrived() === DUE);
  ending.abort();
  await Promise.all(sweeping);
  await Promise.all(workers.map((worker) => worker.idle()));
  expect(most).toBe(IN_FLIGHT);
  expect(new Set(receivers.at(path).map(({ headers }) => headers['webhook-id'])).size).toBe(DUE);
  expect(await ownerOf()).toBeNull();
});

test('an endpoint of a worker that is gone is free when its lease has ended', async () => {
  const worker = stack.worker();
  await queue(3);
  expect((await claimAndVanish()).deliveries).toHaveLength(1);
  await worker.sweep();
  await worker.idle();
  expect(arrived()).toBe(0);
  stack.clock.move(ENDPOINT_LEASE_MS);
  expect(await worker.sweep()).toBe(3);
  await worker.idle();
  expect(arrived()).toBe(3);
});

test('a worker whose clock is ahead does not take what another sends', async () => {
  const reply = Promise.withResolvers<() => void>();
  receivers.behave(path, (response) => reply.resolve(() => void response.writeHead(204).end()));
  await queue(1);
  const sending = stack.worker({ leaseClock: null });
  const ahead = stack.worker({ leaseClock: null, aheadMs: 10 * ENDPOINT_LEASE_MS });
  await sending.sweep();
  const answer = await reply.promise;
  expect(await ahead.sweep()).toBe(0);
  answer();
  await sending.idle();
  expect(arrived()).toBe(1);
});

test('an endpoint is released with its last delivery, and another worker claims at once', async () => {
  for (const worker of [stack.worker(), stack.worker()]) {
    await queue(2);
    expect(await worker.sweep()).toBe(2);
    await worker.idle();
    expect(await ownerOf()).toBeNull();
  }
  expect(arrived()).toBe(4);
  await deleteUnusedLeases(stack.pool);
  expect((await stack.pool.query('select from delivery.endpoint_lease')).rowCount).toBe(0);
});

test('a late release of an endpoint does nothing after it was leased again', async () => {
  await queue(1);
  const [lease] = (await claimAndVanish()).endpoints;
  await claimAndVanish();
  await releaseEndpointLeases(stack.pool, 'gone', [lease ?? { endpoint: '', epoch: '0' }]);
  expect(await ownerOf()).toBe('gone');
});
