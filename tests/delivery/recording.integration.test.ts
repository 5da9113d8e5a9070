import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AlertPayload, PAYLOAD_ITEMS_MAX } from '#contracts/webhooks/alert-payload.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { listUnrecorded, recordAgain } from '#application/delivery-outbox/journal.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { newDelivery, type Rule } from './new-delivery.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

let stack: DeliveryStack;
beforeAll(async () => {
  stack = await openDeliveryStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const webhook = (rule: Rule) =>
  newDelivery(rule, { channel: 'webhook', url: 'https://hooks.shop.example/in' }, stack.clock.now());

/** Delivery whose payload is larger than an append to the event store may be. */
const largeWebhook = (rule: Rule) => {
  const delivery = webhook(rule);
  const [item] = delivery.payload.items;
  const large = { ...item, destination_url: `https://shop.example/?q=${'ä'.repeat(6_000)}` };
  const items = Array.from({ length: PAYLOAD_ITEMS_MAX }, () => large) as typeof delivery.payload.items;
  return { ...delivery, payload: { ...delivery.payload, items, items_total: 123 } };
};

test('a payload over the limit of an event is recorded without its items, with hash and length of the bytes sent', async () => {
  const rule = stack.rule();
  const [small, large] = [webhook(rule), largeWebhook(rule)];
  await stack.enqueue(small, large);
  const events = await stack.events(rule);
  const { rows } = await stack.pool.query<{ payload: string }>(
    'select payload from delivery.delivery where delivery_id = $1',
    [large.deliveryId],
  );
  const sent = rows[0]?.payload ?? '';
  expect(sent.length).toBeGreaterThan(1024 ** 2);
  expect(events).toMatchObject([
    { type: 'DeliveryQueued', data: { delivery_id: small.deliveryId, payload: small.payload } },
    {
      type: 'DeliveryQueued',
      data: {
        delivery_id: large.deliveryId,
        payload: { id: large.deliveryId, items: [], items_total: 123 },
        payload_sha256: hash('sha256', sent, 'hex'),
        payload_bytes: sent.length,
      },
    },
  ]);
  expect(events[0]?.data).not.toHaveProperty('payload_sha256');
  for (const { data } of events) if ('payload' in data) AlertPayload.parse(data.payload);
});

test('an event that the store refuses is set aside alone with the reason, and recorded when it is tried again', async () => {
  const [rule, other] = [stack.rule(), stack.rule()];
  const deliveries = [webhook(rule), webhook(rule), webhook(rule), webhook(other)];
  const refused = deliveries[1];
  await stack.enqueue(...deliveries);
  const refusing: EventStore = {
    ...stack.eventStore,
    append: (stream, expected, events, ...rest) =>
      events.some(({ data }) => (data as { delivery_id?: string }).delivery_id === refused?.deliveryId)
        ? Promise.reject(Object.assign(new Error('too large'), { type: 'maximum-append-size-exceeded' }))
        : stack.eventStore.append(stream, expected, events, ...rest),
  };
  const published = await publishEvents(stack.pool, refusing);
  expect(published).toMatchObject({ entries: 4, isMore: false, refused: [{ reason: 'too large' }] });
  expect((await stack.events(rule)).map(({ data }) => data.delivery_id)).toEqual([
    deliveries[0]?.deliveryId,
    deliveries[2]?.deliveryId,
  ]);
  expect(await stack.events(other)).toHaveLength(1);
  const unrecorded = await listUnrecorded(stack.pool, 10);
  expect(unrecorded).toMatchObject([
    { delivery_id: refused?.deliveryId, type: 'DeliveryQueued', reason: 'too large' },
  ]);
  const seqs = unrecorded.map(({ seq }) => seq);
  await expect(recordAgain(stack.pool, refusing, seqs)).rejects.toThrow('too large');
  expect(await recordAgain(stack.pool, stack.eventStore, seqs)).toBe(1);
  expect(await listUnrecorded(stack.pool, 10)).toEqual([]);
  expect((await stack.events(rule)).map(({ data }) => data.delivery_id)).toEqual(
    [0, 2, 1].map((index) => deliveries[index]?.deliveryId),
  );
});

const denied = () => Object.assign(new Error('access denied'), { type: 'access-denied' });

test('a stream to which access is denied is set aside with the reason, and holds up no other', async () => {
  const [rule, ...others] = Array.from({ length: 20 }, () => stack.rule());
  const deliveries = [...(rule ? [rule] : []), ...others].map(webhook);
  await stack.enqueue(...deliveries);
  const denying: EventStore = {
    ...stack.eventStore,
    append: (stream, ...rest) =>
      stream.includes(rule?.alertId ?? '-')
        ? Promise.reject(denied())
        : stack.eventStore.append(stream, ...rest),
  };
  const published = await publishEvents(stack.pool, denying);
  expect(published).toMatchObject({ entries: 20, refused: [{ reason: 'access denied' }] });
  for (const other of others) expect(await stack.events(other)).toHaveLength(1);
  const seqs = (await listUnrecorded(stack.pool, 10)).map(({ seq }) => seq);
  expect(await recordAgain(stack.pool, stack.eventStore, seqs)).toBe(1);
  if (rule) expect(await stack.events(rule)).toHaveLength(1);
});

test('a login that is denied sets nothing aside, and everything is recorded once it is not', async () => {
  const rules = Array.from({ length: 20 }, () => stack.rule());
  await stack.enqueue(...rules.map(webhook));
  let allowed = 12;
  const denying: EventStore = {
    ...stack.eventStore,
    append: (...of) => {
      allowed -= 1;
      return allowed < 0 ? Promise.reject(denied()) : stack.eventStore.append(...of);
    },
  };
  await expect(publishEvents(stack.pool, denying)).rejects.toThrow('access denied');
  expect(await listUnrecorded(stack.pool, 10)).toEqual([]);
  for (const rule of rules) expect(await stack.events(rule)).toHaveLength(1);
});

test('an error that code throws sets no entry aside', async () => {
  const [rule, other] = [stack.rule(), stack.rule()];
  await stack.enqueue(webhook(rule), webhook(other));
  const broken: EventStore = {
    ...stack.eventStore,
    append: () => Promise.reject(new TypeError('cannot read the answer')),
  };
  await expect(publishEvents(stack.pool, broken)).rejects.toThrow('cannot read the answer');
  expect(await listUnrecorded(stack.pool, 10)).toEqual([]);
  for (const one of [rule, other]) expect(await stack.events(one)).toHaveLength(1);
});

test('an entry from which no event can be made is set aside alone with the reason', async () => {
  const [rule, other] = [stack.rule(), stack.rule()];
  const bad = webhook(rule);
  await stack.enqueue(bad, webhook(rule), webhook(other));
  await stack.pool.query('update delivery.delivery set payload = $2 where delivery_id = $1', [
    bad.deliveryId,
    'no JSON',
  ]);
  const published = await publishEvents(stack.pool, stack.eventStore);
  expect(published).toMatchObject({ entries: 3, refused: [{ entry: { delivery_id: bad.deliveryId } }] });
  for (const one of [rule, other]) expect(await stack.events(one)).toHaveLength(1);
  await stack.pool.query('delete from delivery.unrecorded');
});

test('payloads of many entries are read in parts, so that they fit into memory', async () => {
  const rule = stack.rule();
  // Random digits do not compress.
  const digits = Array.from({ length: 40_000 }, () => String(Math.random()).slice(2, 17)).join('');
  const deliveries = Array.from({ length: 15 }, () => {
    const delivery = webhook(rule);
    return {
      ...delivery,
      payload: { ...delivery.payload, alert: { ...delivery.payload.alert, name: digits } },
    };
  });
  await stack.enqueue(...deliveries);
  const calls: number[] = [];
  for (let isMore = true; isMore; ) {
    const published = await publishEvents(stack.pool, stack.eventStore);
    calls.push(published.entries);
    ({ isMore } = published);
  }
  expect(calls.length).toBeGreaterThan(1);
  expect(await stack.events(rule)).toHaveLength(15);
});
