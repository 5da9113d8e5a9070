import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AlertRuleSettings } from '#contracts/events/workspace/alert-rule.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { until } from '#tests/stack/wait-until.ts';
import { requireAlive, startAlertsProcess } from './alerts-process.ts';
import { type AlertsStack, openAlertsStack, type Rule, scanEvents, STORED_RULE } from './stack.ts';

/** Rules that the process may have in memory, and rules of one brand: more than two ranges of them. */
const RULES_MAX = 4;
const RULES = 11;
const CHANGED_RULES_MAX = 200;
const SCANNED_AT = '2026-05-02T08:00:00.000Z';
/** Rules of one brand, and the limit of the heap of a process that holds far fewer, in MiB. */
const VERY_MANY = Number(inheritedEnvironment()['MANY_RULES'] ?? 60_000);
const HEAP_MIB = Number(inheritedEnvironment()['MANY_RULES_HEAP'] ?? 96);
const LIMIT_MS = 120_000 + VERY_MANY;

let stack: AlertsStack;
beforeEach(async () => {
  stack = await openAlertsStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

/** A batch that changes rules has them in memory as well, so their events are matched before a scan. */
const start = (): AsyncDisposable => stack.start(undefined, undefined, undefined, RULES_MAX);
const addRules = async (brand: string, settings: Partial<AlertRuleSettings>): Promise<readonly Rule[]> => {
  const rules: Rule[] = [];
  for (let n = 0; n < RULES; n += 1) rules.push(await stack.rule([brand], settings));
  return rules;
};
const totalsOf = async (rule: Rule): Promise<readonly number[]> =>
  (await stack.queued(rule)).map(({ payload }) => payload.items_total);

type Waiting = { readonly alert_id: string; readonly items_total: number };
const waitingItems = async (): Promise<readonly Waiting[]> => {
  const { rows } = await stack.pool.query<Waiting>('select alert_id, items_total from alerting.collected');
  return rows;
};
const mostAtOnce = async (table: string): Promise<number> => {
  const { rows } = await stack.pool.query<{ most: number }>(
    `select max(n)::int as most from (select count(*) as n from ${table} group by xmin::text) of_transaction`,
  );
  return rows[0]?.most ?? 0;
};

test('an ad of a brand with more rules than memory holds reaches every rule once, some rules at a time', async () => {
  const brand = await stack.brand('many-rules.example');
  const instant = await addRules(brand, { cadence: 'instant' });
  const daily = await addRules(brand, { cadence: 'daily' });
  const scan = scanEvents(brand, SCANNED_AT, 3);
  {
    await using _ = start();
    await stack.matched();
    await stack.scan(scan.slice(0, 3));
    await stack.matched();
    expect(await mostAtOnce('alerting.collected')).toBeLessThanOrEqual(RULES_MAX);
    await stack.scan(scan.slice(3));
    await stack.matched();
  }
  for (const rule of instant) expect(await totalsOf(rule)).toEqual([3]);
  const waiting = await waitingItems();
  expect(waiting.map(({ alert_id }) => alert_id).toSorted()).toEqual(
    daily.map(({ alert_id }) => alert_id).toSorted(),
  );
  expect(new Set(waiting.map(({ items_total }) => items_total))).toEqual(new Set([3]));
});

test('each ad of a brand with many rules meets the rules as they were at that time', async () => {
  const [brand, other] = [await stack.brand('many-rules.example'), await stack.brand('other.example')];
  const rules = await addRules(brand, {});
  const [moved, disabled] = [await stack.rule([brand]), await stack.rule([brand])];
  const joining = await stack.rule([other]);
  {
    await using _ = start();
    await stack.matched();
  }
  const scan = scanEvents(brand, SCANNED_AT, 2);
  await stack.scan(scan.slice(0, 1));
  await stack.change(moved, { brand_ids: [other] });
  await stack.change(joining, { brand_ids: [brand] });
  await stack.scan(scan.slice(1));
  await stack.change(disabled, { enabled: false });
  await stack.scan(scanEvents(brand, '2026-05-03T08:00:00.000Z', 1));
  await using _ = start();
  await stack.matched();
  expect(await totalsOf(moved)).toEqual([1]);
  expect(await totalsOf(joining)).toEqual([1, 1]);
  for (const rule of rules) expect(await totalsOf(rule)).toEqual([2, 1]);
  const [alert, ...more] = await stack.queued(disabled);
  expect(more).toEqual([]);
  expect(alert?.payload.items_total).toBe(2);
});

test('every rule on activity is checked for signals of a brand with many rules', async () => {
  const brand = await stack.brand('many-rules.example');
  const rules = await addRules(brand, { trigger: 'activity' });
  await using _ = start();
  await stack.matched();
  await stack.scan(scanEvents(brand, SCANNED_AT, 0));
  await stack.matched();
  const { rows } = await stack.pool.query<{ page: number; alert_id: string }>(
    'select page, unnest(alert_ids) as alert_id from alerting.signal_look',
  );
  expect(rows.map(({ alert_id }) => alert_id).toSorted()).toEqual(
    rules.map(({ alert_id }) => alert_id).toSorted(),
  );
  expect(new Set(rows.map(({ page }) => page))).toEqual(new Set([0, 1, 2]));
});

test('a crash amid the rules of a brand doubles no item', async () => {
  const brand = await stack.brand('many-rules.example');
  const rules = await addRules(brand, { cadence: 'daily' });
  await using _ = start();
  await stack.matched();
  const ids = rules.map(({ alert_id }) => alert_id).toSorted();
  const inTheWay = await stack.pool.connect();
  try {
    // The second range waits for this transaction, which adds a row of one of its rules.
    await inTheWay.query('begin');
    await inTheWay.query(
      `insert into alerting.collected (alert_id, cadence, key, items_total, as_of) values ($1, 'daily', $2, 0, '')`,
      [ids[RULES_MAX], new Date().toISOString().slice(0, 10)],
    );
    await stack.scan(scanEvents(brand, SCANNED_AT, 1));
    const endWaiting = async (): Promise<number | null> => {
      const { rowCount } = await stack.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rowCount;
    };
    await expect.poll(endWaiting).toBe(1);
    expect(await waitingItems()).toHaveLength(RULES_MAX);
  } finally {
    await inTheWay.query('rollback');
    inTheWay.release();
  }
  await stack.matched();
  const waiting = await waitingItems();
  expect(waiting.map(({ alert_id }) => alert_id).toSorted()).toEqual(ids);
  expect(new Set(waiting.map(({ items_total }) => items_total))).toEqual(new Set([1]));
});

test('many rules that are created together are stored in parts', async () => {
  const brand = await stack.brand('many-rules.example');
  await Promise.all(Array.from({ length: 450 }, () => stack.rule([brand])));
  await using _ = stack.start();
  await stack.matched();
  const { rows } = await stack.pool.query('select from alerting.rule');
  expect(rows).toHaveLength(450);
  expect(await mostAtOnce('alerting.rule')).toBeLessThanOrEqual(CHANGED_RULES_MAX);
});

/** `brandIds`: an array in SQL, of the rule's number `n`. */
const fillRules = async (count: number, brandIds: string): Promise<void> => {
  await createAlertsTables(stack.pool);
  await stack.pool.query(
    `insert into alerting.checkpoint (position, log_time, replayed_until) values ($1, '', 0)`,
    [await stack.eventStore.head()],
  );
  const id = `md5('many rules ' || n)::uuid`;
  await stack.pool.query(
    `insert into alerting.rule (alert_id, rule)
     select ${id}, $2::jsonb || jsonb_build_object('alert_id', ${id}, 'brand_ids', ${brandIds})
     from generate_series(1, $1::int) n`,
    [count, JSON.stringify(STORED_RULE)],
  );
  await stack.pool.query(
    `insert into alerting.rule_brand (brand_id, alert_id)
     select b::uuid, alert_id from alerting.rule, jsonb_array_elements_text(rule->'brand_ids') b`,
  );
};

test(
  'very many rules of one brand do not fill the memory of the process',
  async () => {
    const brand = await stack.brand('very-many-rules.example');
    await fillRules(VERY_MANY, `jsonb_build_array('${brand}')`);
    const running = startAlertsProcess(stack, HEAP_MIB);
    try {
      await stack.scan(scanEvents(brand, SCANNED_AT, 1));
      const head = await stack.eventStore.head();
      await until('every rule matched', LIMIT_MS, async () => {
        requireAlive(running);
        const { rows } = await stack.pool.query<{ position: string }>(
          'select position from alerting.checkpoint',
        );
        return BigInt(rows[0]?.position ?? 0) >= head;
      });
    } finally {
      await running.stop();
    }
    const { rows } = await stack.pool.query<{ items: number; rules: number }>(
      'select count(*)::int as items, count(distinct alert_id)::int as rules from alerting.collected_item',
    );
    expect(rows).toEqual([{ items: VERY_MANY, rules: VERY_MANY }]);
  },
  LIMIT_MS * 2,
);
