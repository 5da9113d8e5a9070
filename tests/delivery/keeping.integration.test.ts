import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AlertRuleEvent,
  type AlertRuleSettings,
  alertRuleStream,
} from '#contracts/events/workspace/alert-rule.ts';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { FAILING_LIMIT_MS } from '#application/delivery-outbox/failing-endpoints.ts';
import { deleteDeliveriesOfAlert, retargetDeliveriesOfAlert } from '#application/delivery-outbox/cancel.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { FINISHED_RETENTION_DAYS, deleteFinishedDeliveries } from '#services/delivery/leader-tasks.ts';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { silentLog } from '#platform/logger.ts';
import { replayDeliveries } from '#application/delivery-outbox/replay.ts';
import { inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { suspendFailingEndpoints } from '#services/delivery/suspend-failing-endpoints.ts';
import { answers, hangs, openReceivers, type Receivers } from './receivers.ts';
import { until } from '../stack/wait-until.ts';
import { METADATA, newDelivery, type Rule } from './new-delivery.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

const DAY_MS = 86_400_000;

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  // Receivers are disposed of first, which ends the requests that hang.
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const webhookTo = (rule: Rule, path: string) =>
  newDelivery(rule, { channel: 'webhook', url: receivers.url + path }, stack.clock.now());

const testEvent = ({ workspaceId: workspace_id, alertId: alert_id }: Rule): AlertDeliveryEvent => ({
  type: 'DeliveryReplayed',
  data: { workspace_id, alert_id, delivery_id: randomUUID(), replayed_at: stack.clock.now().toISOString() },
});

describe('published events', () => {
  test('contain each journal entry once when the publisher crashes before it saves its cursor', async () => {
    const rule = stack.rule();
    const worker = stack.worker();
    const send = async () => {
      const deliveries = Array.from({ length: 5 }, () => webhookTo(rule, '/events'));
      await stack.enqueue(...deliveries);
      await stack.sendDue(worker);
    };
    await send();
    await publishEvents(stack.pool, stack.eventStore);
    const cursor = await stack.pool.query('select seq from delivery.recorded');
    await send();
    const expected = await stack.events(rule);
    expect(expected).toHaveLength(20);
    // A crash between the append and the cursor update, with new entries since.
    await stack.pool.query('update delivery.recorded set seq = $1', [cursor.rows[0].seq]);
    await stack.pool.query('update delivery.stream set revision = 9 where alert_id = $1', [rule.alertId]);
    await send();
    const repaired = await stack.events(rule);
    expect(repaired.slice(0, 20)).toEqual(expected);
    expect(repaired).toHaveLength(30);
    // The cursor is lost.
    await stack.pool.query('delete from delivery.recorded');
    await stack.pool.query('delete from delivery.stream');
    expect(await stack.events(rule)).toEqual(repaired);
  });

  test('contain each entry once when two publishers run concurrently', async () => {
    const rule = stack.rule();
    await stack.enqueue(...Array.from({ length: 50 }, () => webhookTo(rule, '/both')));
    await stack.sendDue(stack.worker());
    const both = () => publishEvents(stack.pool, stack.eventStore);
    await Promise.all([both(), both(), both()]);
    expect(await stack.events(rule)).toHaveLength(100);
  });

  test('name the member whose request caused them, and come once after a crash and with other events', async () => {
    const rule = stack.rule();
    const [one, two] = [webhookTo(rule, '/member'), webhookTo(rule, '/member')];
    const ids = [one.deliveryId, two.deliveryId];
    await stack.enqueue(one, two);
    await stack.sendDue(stack.worker());
    const cause = {
      actor: { kind: 'api_key', id: 'key_1' },
      request_id: 'request',
      command_id: 'command',
    } as const;
    const replay = (client: Transaction) => replayDeliveries(client, ids, stack.clock.now(), { cause });
    expect(await inTransaction(stack.pool, replay)).toHaveLength(2);
    await stack.sendDue(stack.worker());
    const stream = alertDeliveryStream(rule.workspaceId, rule.alertId);
    const read = async () => {
      const found = [];
      for await (const { id, type, metadata } of stack.eventStore.read(stream))
        found.push({ id, type, actor: metadata.actor, cause: metadata.$causationId });
      return found;
    };
    await stack.events(rule);
    // Another process appends, and this one crashed before it stored how far it came.
    await stack.eventStore.append(stream, 7n, [testEvent(rule)], METADATA, randomUUID());
    await stack.pool.query('delete from delivery.stream where alert_id = $1', [rule.alertId]);
    await stack.pool.query('delete from delivery.recorded');
    await stack.events(rule);
    const events = await read();
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events).toHaveLength(9);
    for (const event of events.slice(0, 8)) {
      const isReplay = event.type === 'DeliveryReplayed';
      expect(event.actor).toEqual(isReplay ? cause.actor : { kind: 'service', id: 'delivery' });
      expect(event.cause === 'command').toBe(isReplay);
    }
  });

  test('include entries that commit late', async () => {
    const rule = stack.rule();
    const slow = await stack.pool.connect();
    await slow.query('begin');
    await slow.query(
      `insert into delivery.journal (delivery_id, type, at, attempt) values ($1, 'DeliveryReplayed', now(), 1)`,
      [randomUUID()],
    );
    await stack.enqueue(webhookTo(rule, '/late'));
    const recording = publishEvents(stack.pool, stack.eventStore);
    // The publisher waits for the open transaction.
    await expect(
      Promise.race([
        recording.then(() => 'done'),
        stack.pool.query('select pg_sleep(0.2)').then(() => 'waits'),
      ]),
    ).resolves.toBe('waits');
    await slow.query('rollback');
    slow.release();
    expect((await recording).entries).toBeGreaterThan(0);
  });
});

describe('an endpoint that only fails', () => {
  const createRule = async (rule: Rule): Promise<void> => {
    const created: AlertRuleEvent = {
      type: 'AlertRuleCreated',
      data: {
        workspace_id: rule.workspaceId,
        alert_id: rule.alertId,
        name: 'Launches',
        trigger: 'new_ads',
        brand_ids: [randomUUID()],
        cadence: 'instant',
        email: true,
        webhook_url: `${receivers.url}/dead`,
        chat: null,
        enabled: true,
        member_id: 'mem_creator',
        created_at: stack.clock.now().toISOString(),
      },
    };
    await stack.eventStore.append(
      alertRuleStream(rule.workspaceId, rule.alertId),
      -1n,
      [created],
      METADATA,
      randomUUID(),
    );
  };
  const ruleEvents = async (rule: Rule): Promise<readonly AlertRuleEvent[]> => {
    const events: AlertRuleEvent[] = [];
    const stream = alertRuleStream(rule.workspaceId, rule.alertId);
    for await (const event of stack.eventStore.read<AlertRuleEvent>(stream)) events.push(event);
    return events;
  };
  const change = async (rule: Rule, changes: Partial<AlertRuleSettings>): Promise<void> => {
    const stream = alertRuleStream(rule.workspaceId, rule.alertId);
    const last = await stack.eventStore.last(stream);
    const changed_at = stack.clock.now().toISOString();
    const named = { workspace_id: rule.workspaceId, alert_id: rule.alertId };
    const event: AlertRuleEvent = { type: 'AlertRuleChanged', data: { ...named, changes, changed_at } };
    await stack.eventStore.append(stream, last?.revision ?? -1n, [event], METADATA, randomUUID());
  };
  const giveUp = () =>
    suspendFailingEndpoints({
      pool: stack.pool,
      eventStore: stack.eventStore,
      clock: stack.clock,
      log: silentLog(),
    });

  test('is suspended after five days with one notice to the creator, while e-mails of its rule continue', async () => {
    receivers.behave('/dead', answers(500));
    stack.emails.set('mem_creator', 'ada@shop.example');
    const worker = stack.worker();
    const rule = stack.rule();
    await createRule(rule);
    const since = new Date(stack.clock.now().getTime() + 2_000);
    await stack.enqueue(webhookTo(rule, '/dead'));
    await stack.sendDue(worker);
    stack.clock.move(FAILING_LIMIT_MS - 10_000);
    await stack.enqueue(webhookTo(rule, '/dead'));
    await stack.sendDue(worker);
    expect(await giveUp(), 'a little less than five days').toEqual([]);
    stack.clock.move(DAY_MS);
    const waiting = webhookTo(rule, '/dead');
    await stack.enqueue(waiting);
    await stack.sendDue(worker);
    const mail = newDelivery(rule, { channel: 'email', member_id: 'mem_creator' }, stack.clock.now());
    await stack.enqueue(mail);
    const notices = await giveUp();
    expect(notices).toHaveLength(1);
    expect(await giveUp(), 'told once').toEqual([]);
    expect((await ruleEvents(rule)).at(-1)).toMatchObject({
      type: 'AlertChannelSuspended',
      data: { channel: 'webhook', failing_since: since.toISOString() },
    });
    expect(await stack.row(waiting.deliveryId)).toMatchObject({ status: 'cancelled' });
    await stack.sendDue(worker);
    expect(await stack.row(mail.deliveryId)).toMatchObject({ status: 'delivered' });
    expect(await stack.row(notices[0]?.deliveryId ?? '')).toMatchObject({
      status: 'delivered',
      kind: 'notice',
      channel: 'email',
    });
    expect(
      (await stack.events(rule)).find(({ data }) => data.delivery_id === notices[0]?.deliveryId),
    ).toMatchObject({
      data: { payload: { type: 'alert.suspended', suspended_channel: 'webhook' } },
    });

    // After a new address it has five days again, and the next suspension sends its own notice.
    await change(rule, { webhook_url: `${receivers.url}/dead` });
    await stack.enqueue(webhookTo(rule, '/dead'));
    await stack.sendDue(worker);
    expect(await giveUp()).toEqual([]);
    stack.clock.move(FAILING_LIMIT_MS);
    await stack.enqueue(webhookTo(rule, '/dead'));
    await stack.sendDue(worker);
    const again = await giveUp();
    expect(again).toHaveLength(1);
    expect(again).not.toEqual(notices);
  });

  test('is not suspended when one delivery arrived', async () => {
    receivers.behave('/recovers', answers(500), answers(200), answers(500));
    const worker = stack.worker();
    const rule = stack.rule();
    await createRule(rule);
    // The first failure is six days ago at the end, and the one after the delivery that arrived four and a half.
    for (let sent = 0; sent < 4; sent += 1) {
      await stack.enqueue(webhookTo(rule, '/recovers'));
      await stack.sendDue(worker);
      stack.clock.move(1.5 * DAY_MS);
    }
    expect(await giveUp()).toEqual([]);
    expect((await ruleEvents(rule)).map(({ type }) => type)).toEqual(['AlertRuleCreated']);
  });
});

describe('a rule change', () => {
  test('retargets pending deliveries to the new address', async () => {
    receivers.behave('/before', answers(500));
    const worker = stack.worker();
    const rule = stack.rule();
    const delivery = webhookTo(rule, '/before');
    await stack.enqueue(delivery);
    await stack.sendDue(worker);
    const target = { channel: 'webhook', url: `${receivers.url}/after` } as const;
    await inTransaction(stack.pool, retargetDeliveriesOfAlert(rule.workspaceId, rule.alertId, target));
    stack.clock.move(6_000);
    await stack.sendDue(worker);
    expect(receivers.at('/before')).toHaveLength(1);
    expect(receivers.at('/after').map(({ headers }) => headers['webhook-id'])).toEqual([delivery.deliveryId]);
  });

  test('that deletes the rule removes its deliveries, also while one is being sent', async () => {
    receivers.behave('/slow', (response) => void setTimeout(() => response.writeHead(200).end(), 100));
    const worker = stack.worker();
    const [rule, other] = [stack.rule(), stack.rule()];
    const [gone, kept] = [webhookTo(rule, '/slow'), webhookTo(other, '/kept')];
    await stack.enqueue(gone, kept);
    await worker.sweep();
    await inTransaction(stack.pool, deleteDeliveriesOfAlert(rule.alertId));
    await worker.idle();
    expect(receivers.at('/slow')).toHaveLength(1);
    expect(await stack.row(gone.deliveryId)).toEqual({});
    expect(await stack.attempts(gone.deliveryId)).toEqual([]);
    expect(await stack.events(rule)).toEqual([]);
    expect(await stack.events(other)).toHaveLength(2);
  });
});

test('retention removes finished deliveries and leaves their events', async () => {
  const rule = stack.rule();
  const delivery = webhookTo(rule, '/old');
  await stack.enqueue(delivery);
  await stack.sendDue(stack.worker());
  const events = await stack.events(rule);
  stack.clock.move(FINISHED_RETENTION_DAYS * DAY_MS - 1_000);
  await deleteFinishedDeliveries(stack.pool, stack.clock.now());
  expect(await stack.row(delivery.deliveryId)).toMatchObject({ status: 'delivered' });
  stack.clock.move(2_000);
  await deleteFinishedDeliveries(stack.pool, stack.clock.now());
  expect(await stack.row(delivery.deliveryId)).toEqual({});
  expect(await stack.events(rule)).toEqual(events);
});

test('an endpoint that hangs does not delay the deliveries of others', { timeout: 30_000 }, async () => {
  const ENDPOINTS = 50;
  const DELIVERIES = 2_000;
  receivers.behave('/hangs', hangs);
  const rule = stack.rule();
  await stack.enqueue(...Array.from({ length: 1_000 }, () => webhookTo(rule, '/hangs')));
  await stack.enqueue(
    ...Array.from({ length: DELIVERIES }, (_, n) => webhookTo(rule, `/busy/${n % ENDPOINTS}`)),
  );
  await stack.worker().sweep();
  const busy = () => receivers.received.filter(({ path }) => path.startsWith('/busy/'));
  await until('the other deliveries arrived', 10_000, () => busy().length === DELIVERIES);
  // The others must finish before the first hanging attempt times out. The benchmark measures speed.
  const { rows } = await stack.pool.query(
    `select count(*) filter (where attempts > 0)::int as tried,
       count(*) filter (where taken_until is not null)::int as taken
     from delivery.overview where alert_id = $1 and endpoint = $2`,
    [rule.alertId, endpointOf({ channel: 'webhook', url: `${receivers.url}/hangs` }, rule.workspaceId)],
  );
  expect(rows[0]).toEqual({ tried: 0, taken: 16 });
  expect(receivers.at('/hangs')).toHaveLength(16);
});
