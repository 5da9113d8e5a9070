import { afterEach, beforeEach, expect, test } from 'vitest';
import { endpointOf } from '#application/delivery-outbox/target.ts';
import { type AlertsStack, openAlertsStack, type Rule } from './stack.ts';

const DELIVERIES = 12_000;
const AT_ONCE = 5_000;
const target = { channel: 'webhook', url: 'https://hooks.shop.example/in' } as const;

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

const ruleWithMany = async (): Promise<Rule> => {
  const rule = await stack.rule([await stack.brand('many.example')]);
  await stack.pool.query(
    `with added as (
       insert into delivery.delivery
         (delivery_id, workspace_id, alert_id, channel, kind, queued_at, endpoint, target, payload)
       select gen_random_uuid(), $1, $2, 'webhook', 'alert', now(), $3, $4, '{}' from generate_series(1, $5::int)
       returning delivery_id
     )
     insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
     select delivery_id, $1, $2, $3, 0, 0, now() from added`,
    [
      rule.workspace_id,
      rule.alert_id,
      endpointOf(target, rule.workspace_id),
      JSON.stringify(target),
      DELIVERIES,
    ],
  );
  return rule;
};

type Counted = { readonly rows: number; readonly most_at_once: number };
const count = async (table: string, where: string): Promise<Counted | undefined> => {
  const { rows } = await stack.pool.query<Counted>(
    `select coalesce(sum(n), 0)::int as rows, coalesce(max(n), 0)::int as most_at_once
     from (select count(*) as n from ${table} where ${where} group by xmin::text) of_transaction`,
  );
  return rows[0];
};

const changed = async (change: (rule: Rule) => Promise<void>): Promise<void> => {
  const rule = await ruleWithMany();
  await using _ = stack.start();
  await stack.matched();
  await change(rule);
  await stack.matched();
};

test('many waiting deliveries of a rule that is disabled are cancelled in pages', async () => {
  await changed((rule) => stack.change(rule, { enabled: false }));
  const cancelled = await count('delivery.journal', `type = 'DeliveryCancelled'`);
  expect(cancelled).toEqual({ rows: DELIVERIES, most_at_once: AT_ONCE });
  expect(await count('delivery.due', 'true')).toMatchObject({ rows: 0 });
});

test('many waiting deliveries of a rule get its new address in pages', async () => {
  const url = 'https://hooks.shop.example/elsewhere';
  let workspaceId = '';
  await changed(async (rule) => {
    workspaceId = rule.workspace_id;
    await stack.change(rule, { webhook_url: url });
  });
  const moved = { rows: DELIVERIES, most_at_once: AT_ONCE };
  expect(await count('delivery.delivery', `target like '%/elsewhere%'`)).toEqual(moved);
  const endpoint = endpointOf({ channel: 'webhook', url }, workspaceId);
  expect(await count('delivery.due', `endpoint = '${endpoint}'`)).toEqual(moved);
});

test('many deliveries of a rule that is deleted are deleted in pages', async () => {
  await stack.pool.query(`
    create table deleted_at_once (rows int);
    create function note_deleted() returns trigger language plpgsql as $$
      begin insert into deleted_at_once select count(*) from gone; return null; end $$;
    create trigger note_deleted after delete on delivery.delivery referencing old table as gone
      for each statement execute function note_deleted();`);
  await changed((rule) => stack.delete(rule));
  const { rows } = await stack.pool.query<{ rows: number }>(
    'select rows from deleted_at_once where rows > 0',
  );
  expect(rows.map((one) => one.rows)).toEqual([AT_ONCE, AT_ONCE, DELIVERIES - 2 * AT_ONCE]);
  expect(await count('delivery.delivery', 'true')).toMatchObject({ rows: 0 });
});
