import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { silentLog } from '#platform/logger.ts';
import { suspendFailingEndpoints } from '#services/delivery/suspend-failing-endpoints.ts';
import { replayByIds } from '#services/ops/deliveries.ts';
import { type AlertsStack, openAlertsStack, type Rule, scanEvents } from './stack.ts';

let stack: AlertsStack;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openAlertsStack());
});
afterAll(() => resources.disposeAsync());

/** Runs the task after five days of failed attempts. Returns the number of notices. */
const giveUp = async (
  { pool, eventStore }: AlertsStack,
  { workspace_id, alert_id }: Rule,
): Promise<number> => {
  await pool.query(
    `insert into delivery.failing (alert_id, channel, workspace_id, since, last_at)
     values ($1, 'webhook', $2, now() - interval '6 days', now())`,
    [alert_id, workspace_id],
  );
  const dependencies = { pool, eventStore, clock: { now: () => new Date() }, log: silentLog() };
  return (await suspendFailingEndpoints(dependencies)).length;
};
const queuedOf = async (from: AlertsStack, rule: Rule): Promise<readonly string[]> =>
  (await from.queued(rule)).map(
    ({ channel, kind, status, payload }) => `${channel} ${kind} ${payload.items_total} ${status}`,
  );

describe('a suspended channel', () => {
  test('gets no pending or new deliveries until it has a new address, while other channels still get theirs', async () => {
    await using _ = stack.start();
    const brand = await stack.brand('half.example');
    const rule = await stack.rule([brand], { email: true });
    const scan = async (day: number): Promise<void> => {
      await stack.scan(scanEvents(brand, `2026-05-0${day}T08:00:00.000Z`, day));
      await stack.matched();
    };
    await scan(2);
    expect(await giveUp(stack, rule)).toBe(1);
    await scan(3);
    const before = ['email alert 2 queued', 'webhook alert 2 cancelled', 'email notice 0 queued'];
    expect(await queuedOf(stack, rule)).toEqual([...before, 'email alert 3 queued']);
    // An operator cannot replay its cancelled deliveries either, as with a disabled rule.
    const [, cancelled] = await stack.queued(rule);
    const replayed = replayByIds(stack, [cancelled?.delivery_id ?? '']);
    await expect(replayed).rejects.toMatchObject({ code: 'changed_meanwhile' });
    await stack.change(rule, { webhook_url: 'https://hooks.shop.example/mended' });
    await scan(4);
    const queued = await stack.queued(rule);
    expect(await queuedOf(stack, rule)).toEqual([
      ...before,
      'email alert 3 queued',
      'email alert 4 queued',
      'webhook alert 4 queued',
    ]);
    expect(queued.at(-1)?.target).toContain('/mended');
    const { rows } = await stack.pool.query('select from delivery.failing where alert_id = $1', [
      rule.alert_id,
    ]);
    expect(rows).toEqual([]);
  });

  test('leaves nothing to send or to collect for a digest when it was the only channel', async () => {
    await using _ = stack.start();
    const brand = await stack.brand('last.example');
    const [rule, daily] = [await stack.rule([brand]), await stack.rule([brand], { cadence: 'daily' })];
    const scan = async (day: number): Promise<void> => {
      await stack.scan(scanEvents(brand, `2026-05-0${day}T08:00:00.000Z`, day));
      await stack.matched();
    };
    const collected = async (): Promise<readonly unknown[]> => {
      const sql = 'select items_total from alerting.collected where alert_id = $1';
      return (await stack.pool.query<{ items_total: number }>(sql, [daily.alert_id])).rows;
    };
    await scan(2);
    expect(await collected()).toEqual([{ items_total: 2 }]);
    for (const one of [rule, daily]) await giveUp(stack, one);
    await scan(3);
    expect(await queuedOf(stack, rule)).toEqual(['webhook alert 2 cancelled', 'email notice 0 queued']);
    expect(await collected()).toEqual([]);
    for (const one of [rule, daily]) await stack.change(one, { enabled: true });
    await scan(4);
    expect((await queuedOf(stack, rule)).at(-1)).toBe('webhook alert 4 queued');
    expect(await collected()).toEqual([{ items_total: 4 }]);
  });

  test('stays suspended after the tables are lost', async () => {
    const fresh = resources.use(await openAlertsStack());
    const brand = await fresh.brand('lost.example');
    const rule = await fresh.rule([brand], { email: true });
    {
      await using _ = fresh.start();
      await fresh.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 2));
      await fresh.matched();
    }
    await fresh.suspend(rule);
    while ((await publishEvents(fresh.pool, fresh.eventStore)).entries > 0);
    await fresh.pool.query('drop schema alerting cascade');
    await fresh.pool.query('drop schema delivery cascade');
    await using _ = fresh.start();
    await fresh.matched();
    expect(await queuedOf(fresh, rule)).toEqual(['email alert 2 queued']);
  });
});
