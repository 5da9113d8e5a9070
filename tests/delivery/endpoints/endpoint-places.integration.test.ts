import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claim, CLAIM_LEASE_MS } from '#application/delivery-outbox/claim.ts';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { silentLog } from '#platform/logger.ts';
import { sweepRegularly } from '#services/delivery/worker.ts';
import { until } from '#tests/stack/wait-until.ts';
import { newDelivery } from '../new-delivery.ts';
import { answers, hangs, openReceivers, type Receivers } from '../receivers.ts';
import { type DeliveryStack, openDeliveryStack } from '../stack.ts';

const IN_FLIGHT = 16;
const WORKSPACE_IN_FLIGHT = 256;
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
const queue = async (deliveries: number, at = path, rule = stack.rule()): Promise<void> => {
  const to = { channel: 'webhook', url: receivers.url + at } as const;
  await stack.enqueue(...Array.from({ length: deliveries }, () => newDelivery(rule, to, stack.clock.now())));
};
const arrived = (): number => receivers.at(path).length;

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
  const workers = Array.from({ length: 3 }, () => stack.worker());
  const ending = new AbortController();
  const sweeping = workers.map((worker) => sweepRegularly(worker, silentLog(), ending.signal));
  await until('all sent', LIMIT_MS, () => arrived() === DUE);
  ending.abort();
  await Promise.all(sweeping);
  await Promise.all(workers.map((worker) => worker.idle()));
  expect(most).toBe(IN_FLIGHT);
  expect(new Set(receivers.at(path).map(({ headers }) => headers['webhook-id'])).size).toBe(DUE);
});

test('the places of a worker that is gone are free when its leases have ended', async () => {
  const worker = stack.worker();
  await queue(IN_FLIGHT + 1);
  const claimed = await claim(stack.pool, {
    workerId: 'gone',
    now: stack.clock.now(),
    endpoints: [endpointOf(target(), '')],
    places: 100,
    groupPlaces: 100,
    groups: new Map(),
  });
  expect(claimed.deliveries).toHaveLength(IN_FLIGHT);
  expect(await worker.sweep()).toBe(0);
  stack.clock.move(CLAIM_LEASE_MS);
  await stack.sendDue(worker);
  expect(arrived()).toBe(IN_FLIGHT + 1);
});

test('a worker whose clock is ahead does not take what another sends', async () => {
  const reply = Promise.withResolvers<() => void>();
  receivers.behave(path, (response) => reply.resolve(() => void response.writeHead(204).end()));
  await queue(1);
  const sending = stack.worker({ claimClock: null });
  const ahead = stack.worker({ claimClock: null, aheadMs: 10 * CLAIM_LEASE_MS });
  await sending.sweep();
  const answer = await reply.promise;
  expect(await ahead.sweep()).toBe(0);
  answer();
  await sending.idle();
  expect(arrived()).toBe(1);
});

test('an endpoint that fails gets one delivery a second until one arrives', async () => {
  receivers.behave(path, ...Array.from({ length: IN_FLIGHT + 2 }, () => answers(500)), answers(204));
  await queue(40);
  const worker = stack.worker();
  const sweep = async (): Promise<void> => {
    await worker.sweep();
    await worker.idle();
  };
  await sweep();
  expect(arrived()).toBe(IN_FLIGHT);
  for (let failed = 1; failed <= 2; failed += 1) {
    await sweep();
    stack.clock.move(1_000);
    await sweep();
    expect(arrived()).toBe(IN_FLIGHT + failed);
  }
  stack.clock.move(1_000);
  await stack.sendDue(worker);
  expect(arrived()).toBeGreaterThanOrEqual(40);
});

test('a workspace whose receivers hang uses its share of the places, and others send', async () => {
  const rule = stack.rule();
  for (let n = 0; n < 20; n += 1) {
    receivers.behave(`${path}/hangs/${n}`, hangs);
    await queue(IN_FLIGHT, `${path}/hangs/${n}`, rule);
  }
  await queue(5);
  const worker = stack.worker();
  expect(await worker.sweep()).toBe(WORKSPACE_IN_FLIGHT + 5);
  await expect.poll(arrived).toBe(5);
  const hanging = receivers.received.filter((one) => one.path.startsWith(`${path}/hangs/`));
  expect(hanging.length).toBeLessThanOrEqual(WORKSPACE_IN_FLIGHT);
});
