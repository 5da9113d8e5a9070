import { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { DeliveryTarget } from '#application/delivery-outbox/target.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { enqueue } from '#application/delivery-outbox/enqueue.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { registerDeliveryCommands } from '#services/ops/cli/commands/deliveries.ts';
import {
  DeliveryQuery,
  JOB_BATCH,
  cancelByIds,
  listDeliveries,
  replayByIds,
  replayFailed,
  requeueMissing,
  showDelivery,
} from '#services/ops/deliveries.ts';
import { newDelivery } from '../delivery/new-delivery.ts';
import { type AlertsStack, openAlertsStack, type Rule } from '../alerts/stack.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

const commands = openHostedCommands();
let stack: AlertsStack;
beforeAll(async () => {
  stack = await openAlertsStack();
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const ops = (...words: readonly string[]) =>
  commands.run(['--json', 'deliveries', ...words], stack.environment);
/** The command must be rejected before it connects to a server. */
const refusal = async (...words: readonly string[]): Promise<string> => {
  const program = new Command();
  registerDeliveryCommands(program);
  return program.parseAsync(['deliveries', ...words], { from: 'user' }).then(
    () => '',
    (error: unknown) => (error instanceof Refusal ? error.message : String(error)),
  );
};
const page = (query: object) => listDeliveries(stack.pool, DeliveryQuery.parse(query));
const missing = async (): Promise<number> =>
  requeueMissing(
    stack,
    () => undefined,
    () => undefined,
  );

const URL_OF_RULE = 'https://hooks.shop.example/in';
const WEBHOOK: DeliveryTarget = { channel: 'webhook', url: URL_OF_RULE };
/** Returns the ids, oldest first. */
const queue = async (
  rule: Rule,
  count: number,
  target: DeliveryTarget = WEBHOOK,
): Promise<readonly string[]> => {
  const named = { workspaceId: rule.workspace_id, alertId: rule.alert_id };
  const deliveries = Array.from({ length: count }, (_, n) =>
    newDelivery(named, target, new Date(Date.now() - (count - n) * 1_000)),
  );
  await inTransaction(stack.pool, (client) => enqueue(client, deliveries));
  return deliveries.map(({ deliveryId }) => deliveryId);
};
const fail = async (ids: readonly string[], at: string | null = null): Promise<void> => {
  await stack.pool.query(
    `with removed as (delete from delivery.due where delivery_id = any($1::uuid[]) returning delivery_id)
     insert into delivery.journal (delivery_id, type, at, attempt, outcome, failure, duration_ms)
     select delivery_id, 'DeliveryAttempted', coalesce($2, now()), 10, 'failed', 'http', 3 from removed`,
    [ids, at],
  );
};
const statusesOf = async (ids: readonly string[]): Promise<readonly (string | null)[]> => {
  const { rows } = await stack.pool.query<{ status: string | null }>(
    `select status from unnest($1::uuid[]) with ordinality as i (delivery_id, n)
     left join delivery.overview using (delivery_id) order by n`,
    [ids],
  );
  return rows.map(({ status }) => status);
};

describe('ops deliveries', () => {
  test('lists deliveries in pages, newest first, and shows one with its attempts', async () => {
    const rule = await stack.rule([randomUUID()]);
    const alert = rule.alert_id;
    const [first = '', second = '', third = ''] = await queue(rule, 3);
    await fail([second]);
    const { stdout } = await ops('list', '--alert', alert, '--limit', '2');
    expect(JSON.parse(stdout)).toMatchObject([{ delivery_id: third }, { delivery_id: second }]);
    expect(await page({ alert, after: second })).toMatchObject([{ delivery_id: first }]);
    expect(await page({ alert, status: 'failed' })).toMatchObject([{ delivery_id: second, attempts: 10 }]);
    await stack.pool.query(
      `update delivery.journal set dns_ms = 1.5, wait_ms = 1.25, answer = 'busy' where delivery_id = $1 and attempt > 0`,
      [second],
    );
    expect((await showDelivery(stack.pool, second)).history[1]).toMatchObject({
      outcome: 'failed',
      dns_ms: 1.5,
      connect_ms: null,
      wait_ms: 1.25,
      answer: 'busy',
    });
    expect(await showDelivery(stack.pool, third)).toMatchObject({
      delivery_id: third,
      status: 'queued',
      channel: 'webhook',
      payload: { id: third },
      history: [{ type: 'DeliveryQueued' }],
    });
  });

  test('replays deliveries that failed since a time, or by id, and cancels by id', async () => {
    const rule = await stack.rule([randomUUID()]);
    const ids = await queue(rule, 4);
    const [old = '', one = '', other = '', waiting = ''] = ids;
    await fail([one, other]);
    await fail([old], '2026-01-01T00:00:00Z');
    const progress: number[] = [];
    const since = new Date(Date.now() - 60_000);
    const { replayed } = await replayFailed(stack, since, (done) => void progress.push(done));
    expect(progress.at(-1)).toBe(replayed);
    expect(await statusesOf(ids)).toEqual(['failed', 'queued', 'queued', 'queued']);
    expect(await replayByIds(stack, [old, waiting])).toBe(1);
    expect(await cancelByIds(stack.pool, [old, waiting])).toBe(2);
    expect(JSON.parse((await ops('cancel', waiting, one)).stdout)).toEqual({
      cancelled: 1,
      already_at_an_end: 1,
    });
    expect(await statusesOf(ids)).toEqual(['cancelled', 'cancelled', 'queued', 'cancelled']);
    const { history } = await showDelivery(stack.pool, one);
    expect(history.map(({ type }) => type)).toEqual([
      'DeliveryQueued',
      'DeliveryAttempted',
      'DeliveryReplayed',
      'DeliveryCancelled',
    ]);
    expect(history[3]?.reason).toBe('An operator cancelled it.');
  });

  test('replays to the current target of a rule, and nothing when the rule no longer sends', async () => {
    const rules = [await stack.rule([randomUUID()]), await stack.rule([randomUUID()])] as const;
    const [moved, off] = rules;
    const [gone, silent] = [
      await stack.rule([randomUUID()]),
      await stack.rule([randomUUID()], { email: true }),
    ];
    const all = [moved, off, gone, silent];
    const [first = '', ...rest] = (await Promise.all(all.map((rule) => queue(rule, 1)))).flat();
    const unread = await stack.rule([randomUUID()], { email: true });
    const others = [...rest, ...(await queue(unread, 1, { channel: 'email', member_id: 'mem_reader' }))];
    await fail([first, ...others]);
    await stack.change(unread, { email: false });
    await stack.change(moved, { webhook_url: 'https://hooks.shop.example/mended' });
    await stack.change(off, { enabled: false });
    await stack.change(silent, { webhook_url: null });
    await stack.delete(gone);
    const [, second = ''] = [first, ...others];
    await expect(replayByIds(stack, [first, second])).rejects.toThrow(
      `its channel was removed or is suspended: ${second}. Nothing`,
    );
    expect(await statusesOf([first, second])).toEqual(['failed', 'failed']);
    const outcome = await replayFailed(stack, new Date(Date.now() - 60_000), () => undefined);
    expect(outcome).toEqual({ replayed: 1, given_up: 4 });
    expect(await statusesOf([first, ...others])).toEqual(['queued', ...others.map(() => 'failed')]);
    const [again] = await stack.queued(moved);
    expect(again?.target).toContain('/mended');
    const { endpoint } = await showDelivery(stack.pool, first);
    const { rows } = await stack.pool.query('select endpoint from delivery.due where delivery_id = $1', [
      first,
    ]);
    expect(rows).toEqual([{ endpoint }]);
    await cancelByIds(stack.pool, [first]);
    await stack.pool.query('delete from delivery.journal where delivery_id = any($1::uuid[])', [others]);
  });

  test('resumes an interrupted replay without replaying a delivery twice', async () => {
    const rule = await stack.rule([randomUUID()]);
    const ids = await queue(rule, 2 * JOB_BATCH + 3);
    await fail(ids);
    const since = new Date(Date.now() - 60_000);
    const progress: number[] = [];
    const interrupted = replayFailed(stack, since, (done) => {
      progress.push(done);
      if (done === JOB_BATCH) throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    const queuedOf = (statuses: readonly (string | null)[]) =>
      statuses.filter((one) => one === 'queued').length;
    expect(queuedOf(await statusesOf(ids))).toBe(JOB_BATCH);
    // Deliveries replayed before the interruption are no longer failed, so they are not selected again.
    const rest = await replayFailed(stack, since, (done) => void progress.push(done));
    expect(rest).toEqual({ replayed: JOB_BATCH + 3, given_up: 0 });
    expect(progress).toEqual([JOB_BATCH, JOB_BATCH, JOB_BATCH + 3]);
    expect(queuedOf(await statusesOf(ids))).toBe(ids.length);
    const replays = await stack.pool.query(
      `select count(*)::int as count from delivery.journal
       where type = 'DeliveryReplayed' and delivery_id = any($1::uuid[])`,
      [ids],
    );
    expect(replays.rows).toEqual([{ count: ids.length }]);
    await cancelByIds(stack.pool, ids);
  });

  test('resumes an interrupted search for missing deliveries', async () => {
    const rules = [await stack.rule([randomUUID()]), await stack.rule([randomUUID()])];
    const ids = (await Promise.all(rules.map((rule) => queue(rule, 3)))).flat();
    while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
    for (const table of ['delivery', 'due', 'journal']) {
      await stack.pool.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [ids]);
    }
    const interrupted = requeueMissing(
      stack,
      () => undefined,
      () => {
        throw new Error('interrupted');
      },
    );
    await expect(interrupted).rejects.toThrow('interrupted');
    const back = (await statusesOf(ids)).filter((one) => one === 'queued').length;
    expect(back).toBe(3);
    expect(await missing()).toBe(3);
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'queued'));
    expect(await missing()).toBe(0);
    await cancelByIds(stack.pool, ids);
  });

  test('queues unfinished deliveries that are in the log but missing from the tables', async () => {
    const [rule, off] = [await stack.rule([randomUUID()]), await stack.rule([randomUUID()])];
    const [kept = '', cancelled = '', lost = ''] = await queue(rule, 3);
    const ofRuleOff = await queue(off, 1);
    const { payload } = await showDelivery(stack.pool, lost);
    await inTransaction(stack.pool, (client) => cancelDeliveries(client, [cancelled], 'Enough.', new Date()));
    while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
    await stack.change(off, { enabled: false });
    await stack.change(rule, { webhook_url: 'https://hooks.shop.example/moved' });
    for (const table of ['delivery', 'due', 'journal']) {
      const removed = [cancelled, lost, ...ofRuleOff];
      await stack.pool.query(`delete from delivery.${table} where delivery_id = any($1::uuid[])`, [removed]);
    }
    expect(JSON.parse((await ops('replay', '--missing')).stdout)).toEqual({ queued: 1 });
    expect(await missing()).toBe(0);
    expect(await statusesOf([kept, cancelled, lost, ...ofRuleOff])).toEqual(['queued', null, 'queued', null]);
    const again = (await stack.queued(rule)).find(({ delivery_id }) => delivery_id === lost);
    expect(again?.payload).toEqual(payload);
    expect(again?.target).toContain('/moved');
  });

  test('reports an invalid command in one line', async () => {
    const unknown = randomUUID();
    const { stderr, code } = await ops('cancel', unknown);
    expect(code).toBe(1);
    expect(stderr).toBe(`Delivery not found: ${unknown}. Nothing was changed.\n`);
    await expect(showDelivery(stack.pool, unknown)).rejects.toThrow(/^Delivery not found\. /);
    await expect(page({ after: unknown })).rejects.toThrow(/^Delivery not found: /);
    expect(await refusal('show', 'nonsense')).toMatch(/must be a delivery id/);
    expect(await refusal('cancel', unknown, 'nonsense')).toMatch(/must be a delivery id/);
    expect(await refusal('replay')).toMatch(/exactly one of/);
    expect(await refusal('replay', unknown, '--missing')).toMatch(/exactly one of/);
    expect(await refusal('replay', '--failed-since', 'yesterday')).toMatch(/a time such as/);
    expect(await refusal('list', '--status', 'lost', '--limit', '0')).toMatch(/`status`: .*`limit`: /);
  });
});
