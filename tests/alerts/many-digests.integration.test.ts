import { expect, test } from 'vitest';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { type AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { deliveryIdOf, digestCause, periodOf } from '#domain/workspace/alert/match-events.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { until } from '#tests/stack/wait-until.ts';
import { judge } from '#tests/trials/judge.ts';
import { peakMemory, requireAlive, sentSoFar, startAlertsProcess } from './alerts-process.ts';
import { type AlertsStack, openAlertsStack } from './stack.ts';

/** Digests that are due at once, items of each, and digests of the smaller run that memory is compared with. */
const environment = inheritedEnvironment();
const DIGESTS = Number(environment['MANY_DIGESTS'] ?? 400);
const ITEMS = Number(environment['MANY_DIGESTS_ITEMS'] ?? 100);
const COMPARED = Number(environment['MANY_DIGESTS_COMPARED'] ?? 0);
/** Limit of the heap of the process, in MiB. 380 digests at once needed more. */
const HEAP_MIB = 192;
/** Deliveries that one transaction may queue. */
const DELIVERIES_PER_TRANSACTION = 200;
/** Peak memory of the run, as a share of that of the smaller run. */
const MEMORY_RATIO = 1.3;
const CHANNELS = 2;
/** Digests whose items one statement inserts: the server cancels a longer one. */
const FILLED_AT_ONCE = 2_000;
const LIMIT_MS = 120_000 + DIGESTS * 20;

const yesterday = utcDateOfMs(Date.now() - DAY_MS);
const period = periodOf('daily', yesterday);
const ALERT_ID = `md5('many digests ' || n)::uuid`;

const rule = {
  workspace_id: 'ws_tests',
  name: 'Launches of the day',
  trigger: 'new_ads',
  brand_ids: [],
  cadence: 'daily',
  email: true,
  webhook_url: 'https://hooks.shop.example/in',
  chat: null,
  enabled: true,
  member_id: 'mem_tests',
  created_at: '2026-05-01T00:00:00.000Z',
  updated_at: '2026-05-01T00:00:00.000Z',
  status: 'present',
  suspended: { webhook: null, chat: null },
};
const item: AlertItem = {
  id: '6f0c1c4e-3b7a-8f0e-8a58-5d9a2f0d7b11',
  type: 'ad_started',
  observed_at: `${yesterday}T08:00:00.000Z`,
  brand: {
    id: '0c6a5ed2-0f0f-8f5c-9a52-0f4a6e5d1a11',
    slug: 'shop-example',
    name: 'A shop with a name',
    logo_url: 'https://cdn.shop.example/logo-of-the-brand.png',
    url: 'https://api.test/v1/brands/shop-example',
  },
  title: `New ad: ${'words that an ad begins with, '.repeat(4)}`,
  ad_id: '1000000000000001',
  page_id: '2000000000000002',
  destination_url: `https://shop.example/products/${'a-long-path/'.repeat(8)}`,
  previous_destination_url: null,
  signal: null,
  url: 'https://api.test/v1/radar/6f0c1c4e-3b7a-8f0e-8a58-5d9a2f0d7b11',
};

/** Fills the tables of the alerts process with rules whose digests ended at the last midnight. */
const fill = async ({ pool, eventStore }: AlertsStack, digests: number): Promise<void> => {
  await createAlertsTables(pool);
  await pool.query(
    `insert into alerting.checkpoint (position, log_time, replayed_until, knows_tracking) values ($1, $2, 0, true)`,
    [await eventStore.head(), `${yesterday}T23:00:00.000Z`],
  );
  await pool.query(
    `insert into alerting.rule (alert_id, rule)
     select ${ALERT_ID}, $2::jsonb || jsonb_build_object('alert_id', ${ALERT_ID}) from generate_series(1, $1::int) n`,
    [digests, JSON.stringify(rule)],
  );
  await pool.query(
    `insert into alerting.collected (alert_id, cadence, key, items_total, as_of)
     select ${ALERT_ID}, 'daily', $2, $3, $4 from generate_series(1, $1::int) n`,
    [digests, yesterday, ITEMS, item.observed_at],
  );
  for (let from = 1; from <= digests; from += FILLED_AT_ONCE) {
    await pool.query(
      `insert into alerting.collected_item (alert_id, cadence, key, place, item)
       select ${ALERT_ID}, 'daily', $3, place, $5::jsonb
       from generate_series($1::int, $2::int) n, generate_series(0, $4::int - 1) place`,
      [from, Math.min(digests, from + FILLED_AT_ONCE - 1), yesterday, ITEMS, JSON.stringify(item)],
    );
  }
  for (const table of ['rule', 'collected', 'collected_item']) await pool.query(`analyze alerting.${table}`);
};

/** Sends the digests, with a process that is killed once on the way. Returns the peak of memory, in MiB. */
const sendAll = async (stack: AlertsStack, digests: number): Promise<number> => {
  await fill(stack, digests);
  let running = startAlertsProcess(stack, HEAP_MIB);
  const sent = (share: number): Promise<void> =>
    until(`${share} of the digests queued`, LIMIT_MS, async () => {
      requireAlive(running);
      return (await sentSoFar(stack)).deliveries >= digests * CHANNELS * share;
    });
  try {
    await sent(1 / 3);
    await running.kill();
    running = startAlertsProcess(stack, HEAP_MIB);
    await sent(1);
    return await peakMemory(running);
  } finally {
    await running.stop();
  }
};

test(
  'digests that are due together are queued once each, a page at a time, in little memory',
  async (context) => {
    await using stack = await openAlertsStack();
    const peak = await sendAll(stack, DIGESTS);
    const { deliveries, most_at_once } = await sentSoFar(stack);
    const { rows } = await stack.pool.query<{ alert_id: string; channel: string; delivery_id: string }>(
      'select alert_id, channel, delivery_id from delivery.delivery',
    );
    const derived = rows.map(({ alert_id, channel }) =>
      deliveryIdOf(alert_id, channel as 'email', digestCause(period)),
    );
    expect(rows.map(({ delivery_id }) => delivery_id)).toEqual(derived);
    const different = new Set(rows.map(({ alert_id, channel }) => `${alert_id} ${channel}`)).size;
    judge(context, `deliveries of ${DIGESTS} digests of ${ITEMS} items, over a kill`, deliveries, {
      equals: DIGESTS * CHANNELS,
    });
    judge(context, 'different deliveries among them', different, { equals: DIGESTS * CHANNELS });
    judge(context, 'most deliveries of one transaction', most_at_once, {
      atMost: DELIVERIES_PER_TRANSACTION,
    });
    const left = await stack.pool.query(
      'select from alerting.collected union all select from alerting.collected_item',
    );
    expect(left.rowCount).toBe(0);
    const one = await stack.pool.query<{ payload: string }>('select payload from delivery.delivery limit 1');
    const payload = AlertPayload.parse(JSON.parse(one.rows[0]?.payload ?? ''));
    expect(payload).toMatchObject({ items_total: ITEMS, period: { from: yesterday, to: yesterday } });
    expect(payload.items).toHaveLength(Math.min(ITEMS, 100));
    if (COMPARED === 0) return;
    await using smaller = await openAlertsStack();
    const compared = await sendAll(smaller, COMPARED);
    judge(context, `peak memory, ${peak.toFixed(0)} MiB, against ${COMPARED} digests`, peak / compared, {
      atMost: MEMORY_RATIO,
      unit: '×',
    });
  },
  LIMIT_MS * 3,
);
