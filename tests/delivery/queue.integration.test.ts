import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AckPolicy, type ConsumerAPI, type ConsumerConfig } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DELIVERIES_DUE, DELIVERIES_STREAM, DELIVERY_CONSUMER } from '#contracts/messages/subjects.ts';
import { notifyDue } from '#application/delivery-outbox/notify-due.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { consumeDue } from '#services/delivery/consume-jobs.ts';
import { ensureDeliveryConsumer } from '#services/delivery/jetstream-consumer.ts';
import { sweepEndpoints } from '#services/delivery/sweep-endpoints.ts';
import type { Worker } from '#services/delivery/worker.ts';
import { createTestNats } from '../stack/database.ts';
import { until } from '../stack/wait-until.ts';
import { newDelivery } from './new-delivery.ts';
import { hangs, openReceivers, type Receivers } from './receivers.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

const LIMIT_MS = 60_000;
const MESSAGES = 1_500;
/** Limit: 100 messages fetched ahead, and as many in each of two claims. */
const FETCHED_AND_CLAIMED_MAX = 300;

let stack: DeliveryStack;
let receivers: Receivers;
let nats: Nats;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openDeliveryStack());
  const server = await createTestNats();
  resources.defer(() => server.stop());
  nats = resources.use(await openNats(server.url, 'tests'));
  // Receivers are disposed of first, which ends the requests that hang.
  receivers = resources.use(await openReceivers());
});
afterAll(() => resources.disposeAsync());

const queue = async (path: string, count: number): Promise<readonly string[]> => {
  const target = { channel: 'webhook', url: receivers.url + path } as const;
  const deliveries = Array.from({ length: count }, () =>
    newDelivery(stack.rule(), target, stack.clock.now()),
  );
  await stack.enqueue(...deliveries);
  return deliveries.map(({ deliveryId }) => deliveryId);
};

const consume = (): AsyncDisposable => {
  const ending = new AbortController();
  const worker = stack.worker();
  const consuming = consumeDue(nats, worker, silentLog(), ending.signal);
  const sweeping = sweepEndpoints(worker, silentLog(), ending.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await Promise.all([consuming, sweeping]);
      await worker.idle();
    },
  };
};
const waiting = async (): Promise<number> => {
  const { num_pending, num_ack_pending } = await nats.manager.consumers.info(
    DELIVERIES_STREAM,
    DELIVERY_CONSUMER,
  );
  return num_pending + num_ack_pending;
};
test('acknowledges malformed messages without delaying valid ones', async () => {
  await ensureDeliveryConsumer(nats);
  const [id = ''] = await queue('/sense', 1);
  const messages = [
    '',
    'no JSON',
    'null',
    '[]',
    '{"delivery_ids":"none"}',
    `{"delivery_ids":["${'-'.repeat(36)}",7,null]}`,
    `{"delivery_ids":["${randomUUID()}"]}`,
    JSON.stringify({ delivery_ids: ['0'.repeat(36), id] }),
  ];
  for (const message of messages) await nats.jetstream.publish(DELIVERIES_DUE, message);
  await using _ = consume();
  await until('the delivery arrived', LIMIT_MS, () => receivers.at('/sense').length === 1);
  await until('the queue is empty', LIMIT_MS, async () => (await waiting()) === 0);
});

test('fetches no more than a written number of messages ahead of claims that are slow', async () => {
  await ensureDeliveryConsumer(nats);
  const ids = Array.from({ length: MESSAGES }, () => randomUUID());
  for (const id of ids) await nats.jetstream.publish(DELIVERIES_DUE, JSON.stringify({ delivery_ids: [id] }));
  const taken = new Set<string>();
  let unacknowledged = 0;
  const slow = {
    hasCapacity: () => Promise.resolve(),
    take: async (deliveryIds: readonly string[]) => {
      const consumer = await nats.manager.consumers.info(DELIVERIES_STREAM, DELIVERY_CONSUMER);
      unacknowledged = Math.max(unacknowledged, consumer.num_ack_pending);
      for (const id of deliveryIds) taken.add(id);
    },
  } as unknown as Worker;
  const ending = new AbortController();
  const consuming = consumeDue(nats, slow, silentLog(), ending.signal);
  await until('all taken', LIMIT_MS, () => ids.every((id) => taken.has(id)));
  await until('the queue is empty', LIMIT_MS, async () => (await waiting()) === 0);
  ending.abort();
  await consuming;
  expect(unacknowledged).toBeLessThanOrEqual(FETCHED_AND_CLAIMED_MAX);
});

test('fetches nothing while the worker is full', async () => {
  await ensureDeliveryConsumer(nats);
  await nats.jetstream.publish(DELIVERIES_DUE, JSON.stringify({ delivery_ids: [randomUUID()] }));
  const asked = Promise.withResolvers<void>();
  const room = Promise.withResolvers<void>();
  const full = {
    hasCapacity: () => {
      asked.resolve();
      return room.promise;
    },
    take: () => Promise.resolve(),
  } as unknown as Worker;
  const ending = new AbortController();
  const consuming = consumeDue(nats, full, silentLog(), ending.signal);
  await asked.promise;
  const { num_pending, num_ack_pending } = await nats.manager.consumers.info(
    DELIVERIES_STREAM,
    DELIVERY_CONSUMER,
  );
  expect({ num_pending, num_ack_pending }).toEqual({ num_pending: 1, num_ack_pending: 0 });
  room.resolve();
  await until('the queue is empty', LIMIT_MS, async () => (await waiting()) === 0);
  ending.abort();
  await consuming;
});

test('keeps nothing of its waits for room', async () => {
  await ensureDeliveryConsumer(nats);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const answers: WeakRef<object>[] = [];
  let taken = 0;
  const worker = {
    hasCapacity: () => {
      const answer = {};
      answers.push(new WeakRef(answer));
      return Promise.resolve(answer);
    },
    take: async (ids: readonly string[]) => void (taken += ids.length),
  } as unknown as Worker;
  const ending = new AbortController();
  const consuming = consumeDue(nats, worker, silentLog(), ending.signal);
  for (let n = 1; n <= 10; n += 1) {
    await nats.jetstream.publish(DELIVERIES_DUE, JSON.stringify({ delivery_ids: [randomUUID()] }));
    await expect.poll(() => taken).toBe(n);
  }
  const kept = (): number => {
    collectGarbage();
    // The last waits may be in use.
    return answers.slice(0, 5).filter((answer) => answer.deref() !== undefined).length;
  };
  await expect.poll(kept).toBe(0);
  ending.abort();
  await consuming;
});

const consumerConfig = async (): Promise<ConsumerConfig> =>
  (await nats.manager.consumers.info(DELIVERIES_STREAM, DELIVERY_CONSUMER)).config;

/** Connection as to a server from 2.10 on, which refuses a consumer that exists with other values. */
const withNewServer = (): Pick<Nats, 'manager' | 'streamSettings'> => {
  const { consumers } = nats.manager;
  const add: ConsumerAPI['add'] = async (stream, config, ...action) => {
    const existing = await consumers.info(stream, config.durable_name ?? '').catch(() => null);
    const differs =
      existing !== null &&
      Object.entries(config).some(([key, value]) => existing.config[key as keyof ConsumerConfig] !== value);
    if (action.length === 0 && differs)
      throw Object.assign(new Error('consumer already exists'), { api_error: { err_code: 10_148 } });
    return consumers.add(stream, config, ...action);
  };
  const manager = Object.create(nats.manager, {
    consumers: { value: Object.create(consumers, { add: { value: add } }) },
  });
  return { manager, streamSettings: nats.streamSettings };
};

test('keeps the values of a consumer that an operator chose', async () => {
  await ensureDeliveryConsumer(nats);
  const chosen = { max_ack_pending: 500, ack_wait: 60_000_000_000 };
  for (const connection of [nats, withNewServer()]) {
    await nats.manager.consumers.update(DELIVERIES_STREAM, DELIVERY_CONSUMER, chosen);
    await ensureDeliveryConsumer(connection);
    expect(await consumerConfig()).toMatchObject(chosen);
  }
  await nats.manager.consumers.delete(DELIVERIES_STREAM, DELIVERY_CONSUMER);
});

test('takes a consumer that another process creates with other values at the same time', async () => {
  const connection = withNewServer();
  const { consumers } = connection.manager;
  const info: ConsumerAPI['info'] = async (...named) => {
    const found = await nats.manager.consumers.info(...named).catch((error: unknown) => ({ error }));
    if (!('error' in found)) return found;
    await nats.manager.consumers.add(DELIVERIES_STREAM, {
      durable_name: DELIVERY_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 7,
    });
    throw found.error;
  };
  Object.defineProperty(consumers, 'info', { value: info });
  await ensureDeliveryConsumer(connection);
  expect((await consumerConfig()).max_ack_pending).toBe(7);
  await nats.manager.consumers.delete(DELIVERIES_STREAM, DELIVERY_CONSUMER);
});

test('sends what a full queue of NATS refused, found in the tables', async () => {
  await ensureDeliveryConsumer(nats);
  const { config } = await nats.manager.streams.info(DELIVERIES_STREAM);
  await nats.manager.streams.update(DELIVERIES_STREAM, { ...config, max_msgs: 1 });
  const ids = await queue('/full', 60);
  await expect(notifyDue(nats, ids)).rejects.toThrow('503');
  await nats.manager.streams.update(DELIVERIES_STREAM, { ...config, max_msgs: -1 });
  await using _ = consume();
  await until('all arrived', LIMIT_MS, () => receivers.at('/full').length === ids.length);
  await until('the queue is empty', LIMIT_MS, async () => (await waiting()) === 0);
  expect(new Set(receivers.at('/full').map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids));
  expect(receivers.at('/full')).toHaveLength(ids.length);
});

test('ends while the worker is full', async () => {
  await ensureDeliveryConsumer(nats);
  // Less than one workspace may have.
  for (let n = 0; n < 28; n += 1) {
    receivers.behave(`/hangs/${n}`, hangs);
    await queue(`/hangs/${n}`, 70);
  }
  const worker = stack.worker();
  await worker.sweep();
  const asked = Promise.withResolvers<void>();
  let hasRoom = false;
  const noted: Worker = {
    ...worker,
    hasCapacity: async (signal) => {
      asked.resolve();
      await worker.hasCapacity(signal);
      hasRoom ||= !ending.signal.aborted;
    },
  };
  const ending = new AbortController();
  const consuming = consumeDue(nats, noted, silentLog(), ending.signal);
  await asked.promise;
  ending.abort();
  await consuming;
  expect(hasRoom).toBe(false);
});
