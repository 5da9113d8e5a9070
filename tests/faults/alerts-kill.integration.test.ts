import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { type AlertDeliveryEvent, alertDeliveryStream } from '#contracts/events/workspace/alert-delivery.ts';
import { alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { scanEvents } from '../alerts/stack.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { METADATA, SECRET } from '../delivery/new-delivery.ts';
import { openReceivers, type Receivers } from '../delivery/receivers.ts';
import { until } from '../stack/wait-until.ts';
import { type AlertingStack, openAlertingStack } from './alerting-stack.ts';
import { choices } from './seeded-faults.ts';

/** ALERTS_KILL_COUNT=5000 and ALERTS_KILL_ROUNDS=20 run the full exercise. */
const { ALERTS_KILL_COUNT, ALERTS_KILL_ROUNDS, ALERTS_KILL_SEED } = readSettings(
  z.object({
    ALERTS_KILL_COUNT: z.coerce.number().int().default(400),
    ALERTS_KILL_ROUNDS: z.coerce.number().int().default(6),
    ALERTS_KILL_SEED: z.coerce.number().int().default(5),
  }),
);
const BRANDS = 10;
const LAUNCHES = 2;
const ROUND_MS = 2_000;
const LIMIT_MS = 120_000 + ALERTS_KILL_COUNT * 20;
const WORKSPACE = 'ws_killed';
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');

let stack: AlertingStack;
let receivers: Receivers;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openAlertingStack('alerts-kill', VAULT_KEY));
  receivers = resources.use(await openReceivers());
});
afterAll(() => resources.disposeAsync());

/** Repeats with the same id until the store acknowledges. */
const append = async (eventStore: EventStore, stream: string, after: bigint, events: readonly Event[]) => {
  const id = randomUUID();
  for (;;) {
    try {
      return await eventStore.append(stream, after, events, METADATA, id);
    } catch {
      await pause(100);
    }
  }
};

/** Every webhook has a path of its own. */
const prepare = async (databaseUrl: string, eventStore: EventStore) => {
  const pool = openPool(databaseUrl, 1);
  const vault = await openSecretVault(pool, VAULT_KEY);
  const fingerprint = await vault.seal(WORKSPACE, WEBHOOK_SECRET_OWNER, SECRET);
  await pool.end();
  const at = '2026-05-01T00:00:00.000Z';
  const issued = { workspace_id: WORKSPACE, fingerprint, issued_at: at };
  await append(eventStore, webhookSecretStream(WORKSPACE), -1n, [
    { type: 'WebhookSecretIssued', data: issued },
  ]);
  const rules = Array.from({ length: BRANDS }, (_, n) => {
    const brand = registered(`killed${n}.example`, at);
    return { brand, brandId: brand.data.brand_id, alertId: randomUUID() };
  });
  for (const { brand, brandId, alertId } of rules) {
    await append(eventStore, brandStream(brandId), -1n, [brand]);
    const data = {
      workspace_id: WORKSPACE,
      alert_id: alertId,
      name: 'Launches',
      trigger: 'new_ads',
      brand_ids: [brandId],
      cadence: 'instant',
      email: false,
      webhook_url: `${receivers.url}/rule/${brandId}`,
      chat: null,
      enabled: true,
      member_id: 'mem_killed',
      created_at: at,
    };
    await append(eventStore, alertRuleStream(WORKSPACE, alertId), -1n, [{ type: 'AlertRuleCreated', data }]);
  }
  return rules;
};

test(`each launch of ${ALERTS_KILL_COUNT} scans is delivered once while processes and servers are killed`, {
  timeout: LIMIT_MS * 2,
}, async () => {
  const eventStore = resources.use(openEventStore(stack.eventStoreUrl));
  const rules = await prepare(stack.databaseUrl, eventStore);

  const launched: string[] = [];
  const record = async (): Promise<void> => {
    const everyMs = (ALERTS_KILL_ROUNDS * ROUND_MS) / ALERTS_KILL_COUNT;
    for (let n = 0; n < ALERTS_KILL_COUNT; n += 1) {
      const { brandId } = rules[n % BRANDS] ?? { brandId: '' };
      const events = scanEvents(brandId, new Date(Date.UTC(2026, 4, 2) + n * 1_000).toISOString(), LAUNCHES);
      for (const { data } of events) if ('ad_id' in data) launched.push(data.ad_id);
      const after = BigInt(Math.floor(n / BRANDS) * events.length) - 1n;
      // A separate append of the end of a scan, so that alerts can be killed in between.
      const started = await append(eventStore, adLibraryStream(brandId), after, events.slice(0, -1));
      await append(eventStore, adLibraryStream(brandId), started.revision, events.slice(-1));
      await pause(everyMs);
    }
  };
  const recording = record();
  const below = choices(ALERTS_KILL_SEED);
  // Each fault once, then random ones.
  const once = ['alerts', 'natsStorage', 'postgres', 'delivery', 'alertsTables', 'nats'] as const;
  const targets = ['alerts', 'delivery', 'nats', 'postgres'] as const;
  const killed: string[] = [];
  for (let round = 0; round < ALERTS_KILL_ROUNDS; round += 1) {
    await pause(ROUND_MS / 2 + below(ROUND_MS / 2));
    const which = once[round] ?? targets[below(targets.length)] ?? 'alerts';
    killed.push(which);
    await stack.strike[which]();
  }
  await recording;

  const idsOf = (): ReadonlySet<string | undefined> =>
    new Set(receivers.received.map(({ headers }) => headers['webhook-id']));
  await until(
    `all delivered after ${killed.join()}`,
    LIMIT_MS,
    () => idsOf().size >= ALERTS_KILL_COUNT,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${idsOf().size} came\n${stack.output()}`);
  });
  const told: string[] = [];
  for (const [id, requests] of Map.groupBy(receivers.received, ({ headers }) => headers['webhook-id'])) {
    const bodies = new Set(requests.map(({ body }) => body.toString()));
    expect(bodies.size, 'however often it came, it is the same').toBe(1);
    const payload = AlertPayload.parse(JSON.parse([...bodies][0] ?? ''));
    expect(payload.id).toBe(id);
    expect(payload.items).toHaveLength(LAUNCHES);
    told.push(...payload.items.map(({ ad_id }) => ad_id ?? ''));
  }
  expect(told.toSorted(), 'each launch in one delivery').toEqual(launched.toSorted());

  const queuedInLog = async (): Promise<number> => {
    const ids = new Set<string>();
    for (const { alertId } of rules) {
      for await (const { type, data } of eventStore.read<AlertDeliveryEvent>(
        alertDeliveryStream(WORKSPACE, alertId),
      )) {
        if (type === 'DeliveryQueued') ids.add(data.delivery_id);
      }
    }
    return ids.size;
  };
  await until('all of them in the log', LIMIT_MS, async () => (await queuedInLog()) === ALERTS_KILL_COUNT);
  console.log(
    `killed ${killed.join()}; ${receivers.received.length} requests for ${ALERTS_KILL_COUNT} deliveries`,
  );
});
