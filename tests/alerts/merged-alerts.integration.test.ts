import { afterEach, beforeEach, expect, test } from 'vitest';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { WAITING_MAX } from '#application/delivery-outbox/enqueue.ts';
import { requeueMissing } from '#services/ops/deliveries.ts';
import { type AlertsStack, openAlertsStack, type Queued, type Rule, scanEvents } from './stack.ts';

const LIMIT = { timeout: 120_000 };
const POLL = { timeout: 60_000 };

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

/** The copies of a delivery have no journal. */
const fill = async ({ alert_id }: Rule): Promise<void> => {
  await stack.pool.query(
    `with one as (select * from delivery.delivery where alert_id = $1 limit 1), copy as (
       insert into delivery.delivery (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
       select gen_random_uuid(), workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload
       from one, generate_series(2, ${WAITING_MAX}) returning delivery_id, workspace_id, alert_id, endpoint, queued_at)
     insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
     select delivery_id, workspace_id, alert_id, endpoint, 0, 0, queued_at from copy`,
    [alert_id],
  );
};
const drain = async ({ alert_id }: Rule, count: number): Promise<void> => {
  await stack.pool.query(
    `delete from delivery.due where delivery_id in (select delivery_id from delivery.due where alert_id = $1 limit $2)`,
    [alert_id, count],
  );
};
/** Returns the deliveries of the rule that have a journal, in order, without the first one. */
const later = async ({ alert_id }: Rule): Promise<readonly Queued[]> => {
  const { rows } = await stack.pool.query<Omit<Queued, 'payload'> & { payload: string }>(
    `select o.delivery_id, o.alert_id, o.channel, o.kind, o.status, o.target, d.payload
     from delivery.journal j join delivery.delivery d using (delivery_id) join delivery.overview o using (delivery_id)
     where d.alert_id = $1 and j.type = 'DeliveryQueued' order by j.seq offset 1`,
    [alert_id],
  );
  return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) as Queued['payload'] }));
};
const isDue = async ({ delivery_id }: Pick<Queued, 'delivery_id'>): Promise<boolean> =>
  (await stack.pool.query('select from delivery.due where delivery_id = $1', [delivery_id])).rowCount === 1;
const reasonOf = async ({ delivery_id }: Queued): Promise<string | undefined> =>
  (
    await stack.pool.query<{ reason: string }>(
      `select reason from delivery.journal where delivery_id = $1 and type = 'DeliveryCancelled'`,
      [delivery_id],
    )
  ).rows[0]?.reason;

const scan = async (brand: string, hour: number, launches: number): Promise<void> => {
  await stack.scan(scanEvents(brand, `2026-05-03T${String(hour).padStart(2, '0')}:00:00.000Z`, launches));
  await stack.matched();
};
const openRule = async (brand: string): Promise<Rule> => {
  const rule = await stack.rule([brand]);
  await scan(brand, 1, 1);
  return rule;
};

test(
  'alerts of a rule of which 10,000 wait are sent as one message once half are sent, and none is lost',
  LIMIT,
  async () => {
    await using _ = stack.start();
    const brand = await stack.brand('slow.example');
    const rule = await openRule(brand);
    await fill(rule);
    const other = await stack.rule([brand], { webhook_url: 'https://hooks.shop.example/other' });
    await scan(brand, 2, 5);
    await scan(brand, 3, 120);
    await drain(rule, WAITING_MAX / 2 - 1);
    await scan(brand, 4, 7);
    const held = await later(rule);
    expect(held.map(({ status, payload }) => [status, payload.items_total])).toEqual([
      ['queued', 5],
      ['queued', 120],
      ['queued', 7],
    ]);
    expect(await Promise.all(held.map(isDue))).toEqual([false, false, false]);
    // Another rule is sent as always, though it has had no room in the first one's queue.
    expect((await stack.queued(other)).map(({ payload }) => payload.items_total)).toEqual([5, 120, 7]);

    await drain(rule, 2);
    await expect.poll(async () => (await later(rule)).length, POLL).toBe(4);
    const [merged] = (await later(rule)).slice(3) as [Queued];
    const payload = AlertPayload.parse(merged.payload);
    expect(payload).toMatchObject({
      id: merged.delivery_id,
      type: 'alert.matched',
      items_total: 132,
      as_of: held[2]?.payload.as_of,
      merged: {
        alerts: 3,
        url: `https://api.test/v1/workspaces/${rule.workspace_id}/alert-deliveries?alert_id=${rule.alert_id}`,
      },
    });
    expect(payload.items).toEqual(held.flatMap((one) => one.payload.items).slice(0, 100));
    expect([merged.status, merged.target, await isDue(merged)]).toEqual(['queued', held[2]?.target, true]);
    expect(stack.published).toContain(merged.delivery_id);
    for (const one of (await later(rule)).slice(0, 3)) {
      expect(one.status).toBe('cancelled');
      expect(await reasonOf(one)).toContain(merged.delivery_id);
    }
    await scan(brand, 5, 2);
    const [last] = (await later(rule)).slice(4) as [Queued];
    expect([last.payload.items_total, last.payload.merged, await isDue(last)]).toEqual([2, undefined, true]);
  },
);

test('a single alert that was held back is sent as it is', LIMIT, async () => {
  await using _ = stack.start();
  const brand = await stack.brand('single.example');
  const rule = await openRule(brand);
  await fill(rule);
  await scan(brand, 2, 3);
  const [held] = (await later(rule)) as [Queued];
  await drain(rule, WAITING_MAX);
  await expect.poll(() => isDue(held), POLL).toBe(true);
  expect(await later(rule)).toEqual([held]);
});

test('alerts that are held back follow a new address, and end with their rule', LIMIT, async () => {
  await using _ = stack.start();
  const brand = await stack.brand('moved.example');
  const [moved, disabled] = [await openRule(brand), await stack.rule([brand])];
  await scan(brand, 2, 1);
  await drain(moved, 1);
  for (const rule of [moved, disabled]) await fill(rule);
  await scan(brand, 3, 1);
  await scan(brand, 4, 1);
  await stack.change(moved, { webhook_url: 'https://hooks.shop.example/new' });
  await stack.change(disabled, { enabled: false });
  await stack.matched();
  expect((await later(disabled)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  await drain(moved, 2 * WAITING_MAX);
  const merged = async () => (await later(moved)).filter(({ payload }) => payload.merged !== undefined);
  await expect.poll(async () => (await merged()).length, POLL).toBe(1);
  expect((await merged())[0]?.target).toBe('{"channel":"webhook","url":"https://hooks.shop.example/new"}');
});

test('a replay of the log sends neither merged alerts again nor those held back', LIMIT, async () => {
  const brand = await stack.brand('again.example');
  let rule: Rule;
  {
    await using _ = stack.start();
    rule = await openRule(brand);
    await fill(rule);
    for (const hour of [2, 3]) await scan(brand, hour, 1);
    await drain(rule, WAITING_MAX);
    await expect.poll(async () => (await later(rule)).length, POLL).toBe(3);
    await fill(rule);
    for (const hour of [4, 5]) await scan(brand, hour, 1);
  }
  while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
  const before = await later(rule);
  await stack.pool.query('drop schema alerting cascade');
  {
    await using _ = stack.start();
    await stack.matched();
  }
  expect(await later(rule)).toEqual(before);
  // With the tables lost, the log alone says what is left to send: the first alert, those held back, and the merged one.
  await stack.pool.query('drop schema alerting cascade');
  for (const table of ['due', 'held', 'journal', 'delivery'])
    await stack.pool.query(`delete from delivery.${table}`);
  await using _ = stack.start();
  await stack.matched();
  const left = async () =>
    (await stack.queued(rule)).map(({ payload }) => [payload.items_total, payload.merged?.alerts]);
  expect(await left()).toEqual(Array.from({ length: 3 }, () => [1, undefined]));
  const added = await requeueMissing(
    stack,
    () => undefined,
    () => undefined,
  );
  expect(added).toBe(1);
  expect((await left()).slice(3)).toEqual([[2, 2]]);
});
