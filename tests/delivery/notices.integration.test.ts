import { afterAll, beforeAll, expect, test } from 'vitest';
import { DELIVERIES_DUE } from '#contracts/messages/subjects.ts';
import { notifyDue, receiveDue } from '#application/delivery-outbox/notices.ts';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { sweepRegularly } from '#services/delivery/worker.ts';
import { createTestNats } from '../stack/database.ts';
import { until } from '../stack/wait-until.ts';
import { newDelivery } from './new-delivery.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

const LIMIT_MS = 60_000;

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

const target = (path: string) => ({ channel: 'webhook', url: receivers.url + path }) as const;
const queue = async (path: string, count: number): Promise<readonly string[]> => {
  const deliveries = Array.from({ length: count }, () =>
    newDelivery(stack.rule(), target(path), stack.clock.now()),
  );
  await stack.enqueue(...deliveries);
  return deliveries.map(({ deliveryId }) => deliveryId);
};
const arrived = (path: string) => receivers.at(path).map(({ headers }) => headers['webhook-id']);

test('a notice sends what is due at its endpoint, and malformed ones delay no others', async () => {
  const ending = new AbortController();
  const worker = stack.worker();
  const receiving = receiveDue(nats, worker.due, ending.signal);
  const ids = await queue('/noticed', 40);
  const messages = [
    '',
    'no JSON',
    'null',
    '[]',
    '{"endpoints":"none"}',
    '{"endpoints":[7,null,"webhook:0"]}',
  ];
  for (const message of messages) nats.connection.publish(DELIVERIES_DUE, message);
  notifyDue(nats, [{ endpoint: endpointOf(target('/noticed'), '') }]);
  await until('all arrived', LIMIT_MS, () => arrived('/noticed').length === ids.length);
  expect(new Set(arrived('/noticed'))).toEqual(new Set(ids));
  ending.abort();
  await receiving;
  await worker.idle();
});

test('deliveries without a notice are found in the tables', async () => {
  const ids = await queue('/swept', 60);
  const ending = new AbortController();
  const worker = stack.worker();
  const sweeping = sweepRegularly(worker, silentLog(), ending.signal);
  await until('all arrived', LIMIT_MS, () => arrived('/swept').length === ids.length);
  ending.abort();
  await sweeping;
  await worker.idle();
  expect(new Set(arrived('/swept'))).toEqual(new Set(ids));
});
