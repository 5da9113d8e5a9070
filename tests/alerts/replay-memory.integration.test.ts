import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { until } from '#tests/stack/wait-until.ts';
import { requireAlive, startAlertsProcess } from './alerts-process.ts';
import { openAlertsStack, type Rule, scanEvents } from './stack.ts';

/** Open deliveries of a rule in the log, the size of each, and the limit of the heap of a process that holds few of them. */
const OPEN = 400;
const PAYLOAD_CHARACTERS = 300_000;
const PER_APPEND = 2;
const HEAP_MIB = 96;
const LIMIT_MS = 120_000;

const openDeliveries = (rule: Rule, payload: AlertPayload, count: number): readonly AlertDeliveryEvent[] =>
  Array.from({ length: count }, () => {
    const delivery_id = randomUUID();
    const items = payload.items.map((item) => ({ ...item, title: 'a'.repeat(PAYLOAD_CHARACTERS) }));
    return {
      type: 'DeliveryQueued',
      data: {
        ...rule,
        delivery_id,
        channel: 'webhook',
        kind: 'alert',
        payload: { ...payload, id: delivery_id, items },
        queued_at: payload.created_at,
      },
    };
  });

test(
  'a replay does not hold the payloads of all open deliveries in memory',
  async () => {
    await using stack = await openAlertsStack();
    const brand = await stack.brand('replayed.example');
    const rule = await stack.rule([brand]);
    {
      await using _ = stack.start();
      await stack.scan(scanEvents(brand, '2026-05-02T08:00:00.000Z', 1));
      await stack.matched();
    }
    const before = await stack.queued(rule);
    const payload = before[0]?.payload;
    if (payload === undefined) throw new Error('no alert was queued');
    while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
    const stream = alertDeliveryStream(rule.workspace_id, rule.alert_id);
    for (let n = 0; n < OPEN; n += PER_APPEND)
      await stack.append(stream, openDeliveries(rule, payload, PER_APPEND));
    for (const schema of ['alerting', 'delivery']) await stack.pool.query(`drop schema ${schema} cascade`);
    const running = startAlertsProcess(stack, HEAP_MIB);
    try {
      await until('the open delivery queued again', LIMIT_MS, async () => {
        requireAlive(running);
        return (await stack.queued(rule).catch(() => [])).length === 1;
      });
    } finally {
      await running.stop();
    }
    const after = await stack.queued(rule);
    expect(after[0]?.delivery_id).toBe(before[0]?.delivery_id);
    expect(after[0]?.payload).toEqual(payload);
  },
  LIMIT_MS * 2,
);
