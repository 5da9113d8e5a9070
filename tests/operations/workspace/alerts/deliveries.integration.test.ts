import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AlertDelivery } from '#contracts/resources/workspace/alert-delivery.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import type { DeliveryTarget } from '#application/delivery-outbox/target.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { newDelivery } from '#tests/delivery/new-delivery.ts';
import { on } from '#tests/dsl/api.ts';
import { alertsThrough, deliveriesOf, HOOK, type Rule, ruleOn } from '#tests/operations/fixtures/alerting.ts';
import { everyPage } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

const WEBHOOK: DeliveryTarget = { channel: 'webhook', url: HOOK };

const stack = await disposeAfterAll(openApiStack());
const brands: readonly CorpusBrand[] = await stack.seed(['alpha']);
const app: FastifyInstance = await stack.api();
await createDeliveryTables(stack.pool);

const tracking = async (): Promise<Key> => {
  const key = await stack.key();
  await alertsThrough(app).track(key, brands);
  return key;
};
const ruleOf = (key: Key, more: object = {}): Promise<Rule> =>
  alertsThrough(app).created(key, ruleOn(brands, { webhook_url: HOOK, ...more }));

/** Publishes the journal as the delivery process does, and waits for the read models. */
const publish = async (): Promise<void> => {
  while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
  await stack.projected(await stack.eventStore.head());
};

/** Queued at these times, in this order. Returns the ids. */
const queue = async (
  { workspaceId }: Key,
  { id: alertId }: Rule,
  times: readonly string[],
  target: DeliveryTarget = WEBHOOK,
): Promise<readonly string[]> => {
  const rule = { workspaceId, alertId };
  const deliveries = times.map((time) => newDelivery(rule, target, new Date(time)));
  await inTransaction(stack.pool, (client) => enqueue(client, deliveries));
  return deliveries.map(({ deliveryId }) => deliveryId);
};

/** Records a last attempt, as a worker does. */
const end = async (
  ids: readonly string[],
  outcome: 'delivered' | 'failed',
  at = new Date().toISOString(),
): Promise<void> => {
  await stack.pool.query(
    `with removed as (delete from delivery.due where delivery_id = any($1::uuid[]) returning delivery_id)
     insert into delivery.journal (delivery_id, type, at, attempt, outcome, failure, duration_ms)
     select delivery_id, 'DeliveryAttempted', $3, 10, $2, case when $2 = 'failed' then 'http' end, 3 from removed`,
    [ids, outcome, at],
  );
};

const search = (key: Key, query = '', limit = 100): Promise<readonly AlertDelivery[]> =>
  everyPage(app, key, `${deliveriesOf(key)}/search?${query}`, limit);
const found = async (key: Key, query = '', limit = 100): Promise<readonly string[]> =>
  (await search(key, query, limit)).map(({ id }) => id);

describe('searchAlertDeliveries 200', () => {
  let key: Key;
  let rule: Rule;
  let waiting: string;
  let failed: string;
  let mailed: string;
  let delivered: string;

  beforeAll(async () => {
    key = await tracking();
    rule = await ruleOf(key);
    const other = await ruleOf(key, { name: 'Others' });
    [delivered = ''] = await queue(key, other, ['2026-11-20T10:00:00.000Z']);
    [failed = '', waiting = ''] = await queue(key, rule, [
      '2026-11-20T11:00:00.000Z',
      '2026-11-20T13:00:00.000Z',
    ]);
    [mailed = ''] = await queue(key, rule, ['2026-11-20T12:00:00.000Z'], {
      channel: 'email',
      member_id: key.memberId,
    });
    await end([delivered], 'delivered');
    await end([failed, mailed], 'failed');
    await publish();
  });

  test('lists the same as the list of all deliveries without a filter, newest first', async () => {
    const all = await everyPage<AlertDelivery>(app, key, deliveriesOf(key));
    expect(all.map(({ id }) => id)).toEqual([waiting, mailed, failed, delivered]);
    expect(await search(key)).toEqual(all);
    expect(await search(key, '', 1)).toEqual(all);
  });

  test('filters by status, channel, rule and time', async () => {
    expect(await found(key, 'statuses=queued')).toEqual([waiting]);
    expect(await found(key, 'statuses=failed,delivered', 2)).toEqual([mailed, failed, delivered]);
    expect(await found(key, 'statuses=failed&channels=email')).toEqual([mailed]);
    expect(await found(key, `statuses=delivered&alert_id=${rule.id}`)).toEqual([]);
    expect(await found(key, `alert_id=${rule.id.toUpperCase()}&channels=webhook`)).toEqual([waiting, failed]);
    expect(await found(key, 'since=2026-11-20T11:00:00Z&until=2026-11-20T13:00:00Z', 1)).toEqual([
      mailed,
      failed,
    ]);
    expect(await found(key, 'statuses=cancelled,retrying&channels=chat')).toEqual([]);
  });

  test('ends with a full page without a cursor', async () => {
    const reply = await on(app).get(`${deliveriesOf(key)}/search?statuses=failed&limit=2`, { key });
    expect([reply.meta.count, reply.meta.cursor]).toEqual([2, undefined]);
  });

  test('lists nothing of another workspace', async () => {
    const other = await stack.key();
    expect(await found(other, `alert_id=${rule.id}`)).toEqual([]);
  });
});

describe('searchAlertDeliveries 400', () => {
  test.each([
    ['statuses=lost', 'statuses.0'],
    ['statuses=', 'statuses.0'],
    ['channels=webhook,sms', 'channels.0'],
    ['status=failed', 'status'],
    ['alert_id=x', 'alert_id'],
    ['since=2026-11-20', 'since'],
    ['since=2026-11-20T11:00:00Z&until=2026-11-20T11:00:00.000Z', 'since'],
  ])('rejects %s', async (query, named) => {
    const key = await stack.key();
    const reply = await on(app).get(`${deliveriesOf(key)}/search?${query}`, { key });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path: named }] } });
  });

  test('rejects a cursor of another filter', async () => {
    const key = await tracking();
    const times = ['2026-11-20T11:00:00.000Z', '2026-11-20T12:00:00.000Z'];
    await queue(key, await ruleOf(key), times);
    await publish();
    const { meta } = await on(app).get(`${deliveriesOf(key)}/search?limit=1`, { key });
    const url = `${deliveriesOf(key)}/search?limit=1&statuses=queued&cursor=${meta.cursor}`;
    expect((await on(app).get(url, { key })).status).toBe(400);
  });
});
