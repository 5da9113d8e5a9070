import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { type EventStore, openEventStore, StreamMoved } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { scanEvents } from '../alerts/stack.ts';
import { METADATA, SECRET } from '../delivery/new-delivery.ts';
import { answers, openReceivers, type Receivers } from '../delivery/receivers.ts';
import { verifySignatures } from '../delivery/signatures.ts';
import { createWebhookRules, VAULT_KEY, type WebhookRule } from '../delivery/webhook-rules.ts';
import { until } from '../stack/wait-until.ts';
import { judge } from '../trials/judge.ts';
import { type AlertingStack, openAlertingStack } from './alerting-stack.ts';
import { choices } from './seeded-faults.ts';

/** DELIVERY_KILL_COUNT=5000 and DELIVERY_KILL_ROUNDS=20 run the full exercise. */
const { DELIVERY_KILL_COUNT, DELIVERY_KILL_ROUNDS, DELIVERY_KILL_SEED } = readSettings(
  z.object({
    DELIVERY_KILL_COUNT: z.coerce.number().int().default(800),
    DELIVERY_KILL_ROUNDS: z.coerce.number().int().default(5),
    DELIVERY_KILL_SEED: z.coerce.number().int().default(11),
  }),
);
const RULES = 10;
const ROUND_MS = 2_500;
const RECEIVER_MS = 30;
const LIMIT_MS = 120_000 + DELIVERY_KILL_COUNT * 20 + DELIVERY_KILL_ROUNDS * 5_000;
const VERIFIED = 20;
const WORKSPACE_ID = 'ws_killed';

let stack: AlertingStack;
let receivers: Receivers;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openAlertingStack('delivery-kill', VAULT_KEY));
  receivers = resources.use(await openReceivers());
});
afterAll(() => resources.disposeAsync());

/** Returns the ad ids. Each scan is acknowledged before the next. */
const recordScans = async (
  eventStore: EventStore,
  rules: readonly WebhookRule[],
): Promise<readonly string[]> => {
  const everyMs = (DELIVERY_KILL_ROUNDS * ROUND_MS * RULES) / DELIVERY_KILL_COUNT;
  const adIds: string[] = [];
  const recordOf = async ({ brandId }: WebhookRule): Promise<void> => {
    let revision = -1n;
    for (let n = 0; n < DELIVERY_KILL_COUNT / RULES; n += 1) {
      const events = scanEvents(brandId, new Date(Date.now() + n).toISOString(), 1);
      const commandId = randomUUID();
      for (;;) {
        try {
          // Same ids at the same revision: an append that succeeded without an acknowledgement is recorded once.
          ({ revision } = await eventStore.append(
            adLibraryStream(brandId),
            revision,
            events,
            METADATA,
            commandId,
          ));
          break;
        } catch (error) {
          if (error instanceof StreamMoved) throw error;
          await pause(50);
        }
      }
      const [ad] = events;
      if (ad?.type === 'AdStarted') adIds.push(ad.data.ad_id);
      await pause(everyMs);
    }
  };
  await Promise.all(rules.map(recordOf));
  return adIds;
};

const eventsOf = async (
  eventStore: EventStore,
  rules: readonly WebhookRule[],
): Promise<readonly AlertDeliveryEvent[]> => {
  const events: AlertDeliveryEvent[] = [];
  for (const { alertId } of rules) {
    for await (const event of eventStore.read<AlertDeliveryEvent>(alertDeliveryStream(WORKSPACE_ID, alertId)))
      events.push(event);
  }
  return events;
};

test(`each of ${DELIVERY_KILL_COUNT} matches arrives while processes and servers are killed`, {
  timeout: LIMIT_MS * 2,
}, async (context) => {
  const pool = openPool(stack.databaseUrl, 4);
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(stack.eventStoreUrl));
  await createDeliveryTables(pool);
  const urls = Array.from({ length: RULES }, (_, n) => `${receivers.url}/rule/${n}`);
  const rules = await createWebhookRules(eventStore, pool, WORKSPACE_ID, urls);
  const slowly = (status: number) => (response: Parameters<ReturnType<typeof answers>>[0]) =>
    void setTimeout(() => response.writeHead(status).end(), RECEIVER_MS);
  // One receiver refuses its first request, so that retries are pending during the kills.
  for (let n = 0; n < RULES; n += 1) receivers.behave(`/rule/${n}`, slowly(n === 0 ? 503 : 200), slowly(200));

  const recording = recordScans(eventStore, rules);
  const below = choices(DELIVERY_KILL_SEED);
  // Each fault once, then random ones.
  const once = ['delivery', 'alerts', 'postgres', 'natsStorage', 'nats'] as const;
  const targets = ['delivery', 'alerts', 'nats', 'postgres'] as const;
  const killed: string[] = [];
  for (let round = 0; round < DELIVERY_KILL_ROUNDS; round += 1) {
    await pause(ROUND_MS / 2 + below(ROUND_MS / 2));
    const which = once[round] ?? targets[below(targets.length)] ?? 'delivery';
    killed.push(which);
    await stack.strike[which]();
  }
  const adIds = await recording;
  expect(adIds).toHaveLength(DELIVERY_KILL_COUNT);

  const delivered = async (): Promise<number> => {
    const { rows } = await pool.query(
      `select count(*)::int as delivered from delivery.overview where status = 'delivered'`,
    );
    return rows[0].delivered;
  };
  await until(`all delivered after ${killed.join()}`, LIMIT_MS, async () => {
    return (await delivered().catch(() => 0)) >= DELIVERY_KILL_COUNT;
  }).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${stack.output()}`);
  });
  const payloads = receivers.received.map(({ body }) => AlertPayload.parse(JSON.parse(body.toString())));
  const arrived = Map.groupBy(receivers.received, (_, n) => payloads[n]?.items[0]?.ad_id ?? '');
  const missing = adIds.filter((adId) => !arrived.has(adId)).length;
  judge(
    context,
    `matches that never arrived, of ${DELIVERY_KILL_COUNT}, over ${killed.length} kills`,
    missing,
    {
      equals: 0,
    },
  );
  expect(arrived.size).toBe(DELIVERY_KILL_COUNT);
  // A repeated delivery has the same bytes and the same id.
  const changed = [...arrived.values()].filter(
    (requests) =>
      new Set(requests.map(({ headers, body }) => `${headers['webhook-id']} ${body.toString()}`)).size !== 1,
  );
  judge(context, `deliveries with more than one id or text, in ${payloads.length} requests`, changed.length, {
    equals: 0,
  });
  for (const request of receivers.received.slice(-VERIFIED)) verifySignatures(request, SECRET);

  // The log and the tables agree in the end: each delivery and each attempt once.
  const attempts = await pool.query<{ count: number }>(
    `select count(*)::int as count from delivery.journal where type = 'DeliveryAttempted'`,
  );
  const written = attempts.rows[0]?.count ?? 0;
  await until('all events', LIMIT_MS, async () => {
    return (await eventsOf(eventStore, rules)).length >= DELIVERY_KILL_COUNT + written;
  });
  const events = await eventsOf(eventStore, rules);
  expect(events).toHaveLength(DELIVERY_KILL_COUNT + written);
  const queued = events.filter(({ type }) => type === 'DeliveryQueued');
  expect(new Set(queued.map(({ data }) => data.delivery_id)).size).toBe(DELIVERY_KILL_COUNT);
  const ended = events.filter(({ data }) => 'outcome' in data && data.outcome === 'delivered');
  expect(ended).toHaveLength(DELIVERY_KILL_COUNT);
});
