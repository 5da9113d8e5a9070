import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { deliveryIdOf, digestCause, periodOf } from '#domain/workspace/alert/match-events.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { until } from '#tests/stack/wait-until.ts';
import { judge } from '#tests/trials/judge.ts';
import { peakMemory, requireAlive, sentSoFar, startAlertsProcess } from '../alerts-process.ts';
import { fillDigests } from './fill-digests.ts';
import { type AlertsStack, openAlertsStack } from '../stack.ts';

const environment = inheritedEnvironment();
const DIGESTS = Number(environment['MANY_DIGESTS'] ?? 400);
const ITEMS = Number(environment['MANY_DIGESTS_ITEMS'] ?? 100);
const COMPARED = Number(environment['MANY_DIGESTS_COMPARED'] ?? 0);
/** 380 digests at once needed more. */
const HEAP_MIB = 192;
const DELIVERIES_PER_TRANSACTION = 200;
const MEMORY_RATIO = 1.3;
const CHANNELS = 2;
const LIMIT_MS = 120_000 + DIGESTS * 20;

/** Digests of a day that ended less than an hour ago have pauses. */
const yesterday = utcDateOfMs(Date.now() - DAY_MS - HOUR_MS);
const period = periodOf('daily', yesterday);
/** The process is killed once on the way. Returns the peak of memory, in MiB. */
const sendAll = async (stack: AlertsStack, digests: number): Promise<number> => {
  await fillDigests(stack, { digests, items: ITEMS, day: yesterday });
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
