import { expect, test } from 'vitest';
import { deliveryIdOf } from '#domain/workspace/alert/match-events.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { until } from '#tests/stack/wait-until.ts';
import { judge } from '#tests/trials/judge.ts';
import { peakMemory, requireAlive, sentSoFar, startAlertsProcess } from './alerts-process.ts';
import { appendStory, projectAll, storyWithSignals } from './project-signals.ts';
import { type AlertsStack, openAlertsStack, scanEvents, STORED_RULE } from './stack.ts';

const environment = inheritedEnvironment();
const CHECKS = Number(environment['MANY_SIGNAL_CHECKS'] ?? 20);
const COMPARED = Number(environment['MANY_SIGNAL_CHECKS_COMPARED'] ?? 0);
/** More rules than one row has. */
const RULES = 1_200;
const HEAP_MIB = 192;
/** Deliveries that one transaction may queue: a hundred notices on two channels. */
const DELIVERIES_PER_TRANSACTION = 200;
const MEMORY_RATIO = 1.3;
const SIGNALS = 2;
/** Scans of one batch, and rules of their checks that one transaction may store. */
const SCANS = 50;
const RULES_IN_MEMORY = 20_000;
const CHANNELS = 2;
const LIMIT_MS = 120_000 + CHECKS * 200;
const SIGNAL_DAY = '2026-01-08';

const rule = {
  ...STORED_RULE,
  name: 'Activity',
  trigger: 'activity',
  brand_ids: [],
  cadence: 'instant',
};
const ALERT_ID = `md5('many checks ' || n)::uuid`;

/** The checkpoint is at the end of the log. */
const addRules = async ({ pool, eventStore }: AlertsStack, brandId: string): Promise<void> => {
  await createAlertsTables(pool);
  await pool.query(
    `insert into alerting.checkpoint (position, log_time, replayed_until) values ($1, $2, $3)`,
    // The positions of the checks are before the end of the log, and after those of a replay.
    [await eventStore.head(), new Date().toISOString(), -10_000_000],
  );
  await pool.query(
    `with added as (
       insert into alerting.rule (alert_id, rule)
       select ${ALERT_ID}, $2::jsonb || jsonb_build_object('alert_id', ${ALERT_ID}) from generate_series(1, $1::int) n
       returning alert_id
     )
     insert into alerting.rule_brand (brand_id, alert_id) select $3::uuid, alert_id from added`,
    [RULES, JSON.stringify(rule), brandId],
  );
};

const addChecks = async (
  { pool, eventStore }: AlertsStack,
  brandId: string,
  count: number,
): Promise<void> => {
  await pool.query(
    `insert into alerting.signal_look (position, brand_id, date, at, alert_ids)
     select $1::bigint - n, $2, $3, $4, array(select alert_id::text from alerting.rule)
     from generate_series(1, $5::int) n`,
    [await eventStore.head(), brandId, SIGNAL_DAY, new Date().toISOString(), count],
  );
};

/** The process is killed once on the way. Returns its peak memory, in MiB. */
const checkAll = async (stack: AlertsStack, checks: number): Promise<number> => {
  const story = storyWithSignals('many-checks.example');
  await appendStory(stack, story);
  await projectAll(stack);
  await addRules(stack, story.brand_id);
  await addChecks(stack, story.brand_id, checks);
  let running = startAlertsProcess(stack, HEAP_MIB);
  try {
    await until('a third of the deliveries queued', LIMIT_MS, async () => {
      requireAlive(running);
      return (await sentSoFar(stack)).deliveries >= (RULES * SIGNALS * CHANNELS) / 3;
    });
    await running.kill();
    running = startAlertsProcess(stack, HEAP_MIB);
    await until('every signal check done', LIMIT_MS, async () => {
      requireAlive(running);
      const { rowCount } = await stack.pool.query('select from alerting.signal_look limit 1');
      return rowCount === 0;
    });
    return await peakMemory(running);
  } finally {
    await running.stop();
  }
};

test(
  'many pending signal checks notify each rule once of each signal, a page at a time, in little memory',
  async (context) => {
    await using stack = await openAlertsStack();
    const peak = await checkAll(stack, CHECKS);
    const { deliveries, most_at_once } = await sentSoFar(stack);
    const { rows } = await stack.pool.query<
      Record<'alert_id' | 'channel' | 'delivery_id' | 'signal', string>
    >(
      `select alert_id, channel, delivery_id, payload::json->'items'->0->>'id' as signal from delivery.delivery`,
    );
    expect(rows.map(({ delivery_id }) => delivery_id)).toEqual(
      rows.map(({ alert_id, channel, signal }) => deliveryIdOf(alert_id, channel as 'email', signal)),
    );
    expect(new Set(rows.map(({ signal }) => signal)).size).toBe(SIGNALS);
    judge(context, `deliveries of ${CHECKS} checks of ${RULES} rules, over a kill`, deliveries, {
      equals: RULES * SIGNALS * CHANNELS,
    });
    judge(context, 'most deliveries of one transaction', most_at_once, {
      atMost: DELIVERIES_PER_TRANSACTION,
    });
    if (COMPARED === 0) return;
    await using smaller = await openAlertsStack();
    const compared = await checkAll(smaller, COMPARED);
    judge(context, `peak memory, ${peak.toFixed(0)} MiB, against ${COMPARED} checks`, peak / compared, {
      atMost: MEMORY_RATIO,
      unit: '×',
    });
  },
  LIMIT_MS * 3,
);

test('a check of many rules is stored in rows of at most 500', async () => {
  await using stack = await openAlertsStack();
  const brand = await stack.brand('rows.example');
  await addRules(stack, brand);
  await using _ = stack.start();
  await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
  await stack.matched();
  const { rows } = await stack.pool.query<{ page: number; rules: number }>(
    'select page, cardinality(alert_ids) as rules from alerting.signal_look order by page',
  );
  expect(rows).toEqual([500, 500, 200].map((rules, page) => ({ page, rules })));
});

test('many new checks of one batch are stored in parts', async () => {
  await using stack = await openAlertsStack();
  const brand = await stack.brand('parts.example');
  await addRules(stack, brand);
  const scans = Array.from({ length: SCANS }, (_, n) =>
    scanEvents(brand, `2026-05-02T08:00:${String(n).padStart(2, '0')}.000Z`, 0),
  );
  await stack.scan(scans.flat());
  await using _ = stack.start();
  await stack.matched();
  const { rows } = await stack.pool.query<{ rules: number }>(
    'select sum(cardinality(alert_ids))::int as rules from alerting.signal_look group by xmin::text',
  );
  expect(rows.reduce((sum, { rules }) => sum + rules, 0)).toBe(SCANS * RULES);
  expect(Math.max(...rows.map(({ rules }) => rules))).toBeLessThanOrEqual(RULES_IN_MEMORY + RULES);
});
