import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AlertDelivery, REDELIVERIES_MAX } from '#contracts/resources/workspace/alert-delivery.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { listHistory } from '#projections/workspace-history/read.ts';
import { on } from '#tests/dsl/api.ts';
import {
  alertsThrough,
  deliveriesOf,
  HOOK,
  loseReply,
  type Rule,
  ruleOn,
  suspendChannel,
} from '#tests/operations/fixtures/alerting.ts';
import { everyPage } from '#tests/operations/fixtures/boards.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { outboxOf } from '#tests/operations/fixtures/outbox.ts';
import { type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';

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

const { publish, queue, end, cancel } = outboxOf(stack);

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

const redeliver = (key: Key, id: string, headers: Record<string, string> = {}, body: unknown = {}) =>
  on(app).post(`${deliveriesOf(key)}/${id}/redeliver`, { key, body, headers });
const redeliverFailed = (key: Key, body: unknown, headers: Record<string, string> = {}) =>
  on(app).post(`${deliveriesOf(key)}/redeliver`, { key, body, headers });

const SINCE = '2026-11-20T00:00:00Z';
const timesOf = (count: number): readonly string[] =>
  Array.from({ length: count }, () => `2026-11-20T09:00:00.000Z`);

/** A rule with deliveries that failed at these times of 20 November. */
const failing = async (key: Key, times: readonly string[], more: object = {}) => {
  const rule = await ruleOf(key, more);
  const ids = await queue(key, rule, timesOf(times.length));
  for (const [index, time] of times.entries())
    await end([ids[index] ?? ''], 'failed', `2026-11-20T${time}:00.000Z`);
  await publish();
  return { rule, ids, first: ids[0] ?? '' };
};

const dueOf = async (ids: readonly string[]) => {
  const { rows } = await stack.pool.query<{ delivery_id: string; target: string; attempts: number }>(
    `select u.delivery_id, d.target, u.attempts from delivery.due u join delivery.delivery d using (delivery_id)
     where u.delivery_id = any($1::uuid[])`,
    [ids],
  );
  return rows;
};
const replaysOf = async (key: Key, { id }: Rule) => {
  const replays = [];
  for await (const event of stack.eventStore.read(alertDeliveryStream(key.workspaceId, id)))
    if (event.type === 'DeliveryReplayed') replays.push(event);
  return replays;
};

describe('redeliver 200', () => {
  test('queues a failed delivery again, under its id, at the address that the rule has now', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    await alertsThrough(app).change(key, rule.id, { webhook_url: `${HOOK}/mended` });
    const { status, data } = await redeliver(key, first.toUpperCase());
    expect([status, data]).toEqual([
      200,
      { delivery_id: first, alert_id: rule.id, workspace_id: key.workspaceId },
    ]);
    expect(await dueOf([first])).toEqual([
      { delivery_id: first, target: expect.stringContaining('/mended'), attempts: 10 },
    ]);
    const [listed] = await search(key);
    expect(listed).toMatchObject({ id: first, status: 'queued', finished_at: null, attempts_total: 1 });
  });

  test.each(['delivered', 'cancelled'] as const)('queues a delivery that was %s again', async (outcome) => {
    const key = await tracking();
    const [id = ''] = await queue(key, await ruleOf(key), timesOf(1));
    if (outcome === 'delivered') await end([id], outcome);
    else await cancel([id]);
    await publish();
    expect((await redeliver(key, id)).status).toBe(200);
    expect(await found(key, 'statuses=queued')).toEqual([id]);
  });

  test('names the caller and the request in the log and in the history of the workspace', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    const { headers } = await redeliver(key, first);
    const [event, ...others] = await replaysOf(key, rule);
    expect(others).toEqual([]);
    const actor = { kind: 'api_key', id: key.keyId };
    expect(event).toMatchObject({
      data: { delivery_id: first },
      metadata: { actor, request_id: headers['x-request-id'], workspace_id: key.workspaceId },
    });
    await stack.projected(await stack.eventStore.head());
    const { db } = stack.operations();
    const history = await listHistory(db, key.workspaceId, { type: 'DeliveryReplayed' }, { limit: 10 });
    expect(history).toMatchObject([{ actor, data: { delivery_id: first } }]);
  });

  test('sends once for one idempotency key, also when the reply of the first request was lost', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    const headers = { 'idempotency-key': first };
    const one = await redeliver(key, first, headers);
    expect((await redeliver(key, first, headers)).data).toEqual(one.data);
    await loseReply(stack, first);
    expect((await redeliver(key, first, headers)).data).toEqual(one.data);
    await publish();
    expect(await replaysOf(key, rule)).toHaveLength(1);
  });
});

describe('redeliver 404', () => {
  test('hides deliveries of another workspace and of a deleted rule', async () => {
    const [key, other] = [await tracking(), await stack.key()];
    const { rule, first } = await failing(key, ['10:00']);
    expect((await redeliver(other, first)).error.message).toBe('Delivery not found.');
    await alertsThrough(app).delete(key, rule.id);
    expect((await redeliver(key, first)).status).toBe(404);
  });
});

describe('redeliver 409', () => {
  test.each<[string, (key: Key, rule: Rule) => Promise<unknown>, RegExp]>([
    [
      'the rule is off',
      (key, { id }) => alertsThrough(app).change(key, id, { enabled: false }),
      /^The rule is off/,
    ],
    [
      'its channel was removed',
      (key, { id }) => alertsThrough(app).change(key, id, { webhook_url: null }),
      /removed/,
    ],
    ['its channel is suspended', (key, { id }) => suspendChannel(stack, key, id, 'webhook'), /suspended/],
  ])('refuses when %s, and changes nothing', async (_name, change, message) => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    await change(key, rule);
    const { status, error } = await redeliver(key, first);
    expect([status, error.message]).toEqual([409, expect.stringMatching(message)]);
    expect([await dueOf([first]), await replaysOf(key, rule)]).toEqual([[], []]);
  });

  test('refuses a delivery that is still being sent, also one just sent again', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    const [waiting = ''] = await queue(key, rule, timesOf(1));
    await publish();
    await redeliver(key, first);
    for (const id of [waiting, first])
      expect((await redeliver(key, id)).error.message).toContain('still being sent');
    expect(await replaysOf(key, rule)).toHaveLength(1);
  });

  test('refuses a test, and a delivery whose content was deleted', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00']);
    await alertsThrough(app).test(key, rule.id);
    const sample = (await search(key)).find(({ kind }) => kind === 'test');
    expect((await redeliver(key, sample?.id ?? '')).error.message).toMatch(/^A test/);
    await stack.pool.query('delete from delivery.delivery where delivery_id = $1', [first]);
    expect((await redeliver(key, first)).error.message).toContain('no longer stored');
  });
});

describe('redeliverFailed 200', () => {
  test('queues what was given up since the time, of all rules that still send', async () => {
    const key = await tracking();
    const one = await failing(key, ['08:00', '10:00', '11:00']);
    const two = await failing(key, ['12:00'], { name: 'Others' });
    const off = await failing(key, ['12:00'], { name: 'Off' });
    await alertsThrough(app).change(key, off.rule.id, { enabled: false });
    await alertsThrough(app).test(key, one.rule.id);
    const other = await tracking();
    const { first: theirs } = await failing(other, ['10:00']);
    const arrived = await queue(key, one.rule, timesOf(1));
    await end(arrived, 'delivered');
    await publish();
    const { data } = await redeliverFailed(key, { since: '2026-11-20T10:00:00Z' });
    expect(data).toEqual({ workspace_id: key.workspaceId, redelivered: 3, not_sendable: 1, more: false });
    expect(new Set(await found(key, 'statuses=queued'))).toEqual(new Set([...one.ids.slice(1), ...two.ids]));
    expect(await dueOf([theirs, ...arrived])).toEqual([]);
    expect((await redeliverFailed(key, { since: '2026-11-20T10:00:00Z' })).data).toMatchObject({
      redelivered: 0,
      not_sendable: 1,
    });
  });

  test('queues at most the cap, those given up first before others, and tells that more are left', async () => {
    const key = await tracking();
    const rule = await ruleOf(key);
    const ids = await queue(key, rule, timesOf(REDELIVERIES_MAX + 1));
    const [last = '', ...others] = ids;
    await end(others, 'failed', '2026-11-20T10:00:00.000Z');
    await end([last], 'failed', '2026-11-20T10:00:00.001Z');
    await publish();
    const expected = { workspace_id: key.workspaceId, not_sendable: 0 };
    expect((await redeliverFailed(key, { since: SINCE })).data).toEqual({
      ...expected,
      redelivered: REDELIVERIES_MAX,
      more: true,
    });
    await publish();
    expect(await found(key, 'statuses=failed')).toEqual([last]);
    expect((await redeliverFailed(key, { since: SINCE })).data).toEqual({
      ...expected,
      redelivered: 1,
      more: false,
    });
  });

  test('replies the same for one idempotency key, also when the reply of the first request was lost', async () => {
    const key = await tracking();
    const { rule, first } = await failing(key, ['10:00', '11:00']);
    const headers = { 'idempotency-key': first };
    const one = await redeliverFailed(key, { since: SINCE }, headers);
    await loseReply(stack, first);
    expect((await redeliverFailed(key, { since: SINCE }, headers)).data).toEqual(one.data);
    expect(one.data).toMatchObject({ redelivered: 2 });
    await publish();
    expect(await replaysOf(key, rule)).toHaveLength(2);
  });
});

describe('redeliverFailed 400', () => {
  test.each([[{}], [{ since: '2026-11-20' }], [{ since: SINCE, limit: 5 }]])('rejects %j', async (body) => {
    expect((await redeliverFailed(await stack.key(), body)).status).toBe(400);
  });
});

describe('redeliverFailed 409', () => {
  test('refuses an idempotency key that another body had', async () => {
    const key = await tracking();
    const headers = { 'idempotency-key': key.keyId };
    expect((await redeliverFailed(key, { since: SINCE }, headers)).status).toBe(200);
    expect((await redeliverFailed(key, { since: '2026-11-21T00:00:00Z' }, headers)).status).toBe(409);
  });
});
