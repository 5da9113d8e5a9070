import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type AlertDeliveryFact, alertDeliveryStream } from '#contracts/events/alert-delivery.ts';
import { webhookSecretStream } from '#contracts/events/webhook-secret.ts';
import { startNats } from '#deploy/local/nats.ts';
import { startPostgres } from '#deploy/local/postgres.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/config.ts';
import { enqueue, type NewDelivery } from '#platform/deliveries/enqueue.ts';
import { publishDue } from '#platform/deliveries/publish-due.ts';
import { createDeliveryTables } from '#platform/deliveries/tables.ts';
import { openEventStore } from '#platform/event-store.ts';
import { openNats } from '#platform/nats.ts';
import { inTransaction, openPool } from '#platform/postgres.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#platform/secret-vault.ts';
import { answers, openReceivers, type Receivers } from '#tests/delivery/receivers.ts';
import { verifySignatures } from '#tests/delivery/signatures.ts';
import { METADATA, newDelivery, type Rule, SECRET } from '#tests/delivery/new-delivery.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { until } from '#tests/stack/until.ts';

/**
 * Delivery, NATS and PostgreSQL are killed the hard way while deliveries are queued and sent, and NATS's storage is
 * deleted once. DELIVERY_KILL_COUNT=5000 and DELIVERY_KILL_ROUNDS=20 are the full exercise.
 */
const { DELIVERY_KILL_COUNT, DELIVERY_KILL_ROUNDS, DELIVERY_KILL_SEED } = readSettings(
  z.object({
    DELIVERY_KILL_COUNT: z.coerce.number().int().default(800),
    DELIVERY_KILL_ROUNDS: z.coerce.number().int().default(5),
    DELIVERY_KILL_SEED: z.coerce.number().int().default(11),
  }),
);
const RULES = 10;
const QUEUED_TOGETHER = 20;
const ROUND_MS = 2_500;
const RECEIVER_MS = 30;
const LIMIT_MS = 120_000 + DELIVERY_KILL_COUNT * 20;
const VERIFIED = 20;

/** Repeatable choices, so that a failing run can be run again. */
const choices = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** `kill -9` for the server that runs on this folder of ours, and its children. */
const killOn = async (folder: string): Promise<void> => {
  const runsOn = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  };
  const pids = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && runsOn(pid),
  );
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  while (pids.some(runsOn)) await pause(10);
};

let home: string;
let receivers: Receivers;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'delivery-kill-'));
  await chmod(home, 0o755);
  resources.defer(() => rm(home, { recursive: true, force: true }));
  receivers = resources.use(await openReceivers());
});
afterAll(() => resources.disposeAsync());

/** The servers and the process, each of which can be killed and started again where it was. */
const openStack = async () => {
  const folders = { postgres: join(home, 'postgres'), nats: join(home, 'nats') };
  let postgres = await startPostgres({ folder: folders.postgres, port: 0 });
  resources.defer(() => postgres.stop());
  await postgres.createDatabase('event_store');
  await postgres.createDatabase('ad_intelligence');
  let nats = await startNats({ folder: folders.nats, port: 0 });
  resources.defer(() => nats.stop());
  const eventStorePort = 30_000 + (process.pid % 10_000);
  const eventStoreUrl = `esdb://127.0.0.1:${eventStorePort}?tls=false`;
  const databaseUrl = postgres.databaseUrl('ad_intelligence');
  const vaultKey = Buffer.alloc(32, 7).toString('base64');
  const eventStore = startProcess('deploy/local/event-store/main.ts', {
    EVENT_STORE_PORT: String(eventStorePort),
    EVENT_STORE_DATABASE_URL: postgres.databaseUrl('event_store'),
  });
  resources.defer(async () => void (await eventStore.stop()));
  const startDelivery = (): ServiceProcess =>
    startProcess('services/delivery/main.ts', {
      DATABASE_URL: databaseUrl,
      EVENT_STORE_URL: eventStoreUrl,
      NATS_URL: nats.url,
      MEMBER_VAULT_KEY: vaultKey,
      EGRESS_ALLOW_LOOPBACK: 'true',
      MAIL_DIR: join(home, 'mail'),
    });
  let delivery = startDelivery();
  resources.defer(async () => void (await delivery.stop()));
  const kill = {
    delivery: async () => {
      await delivery.kill();
      delivery = startDelivery();
    },
    nats: async () => {
      await killOn(folders.nats);
      nats = await startNats({ folder: folders.nats, port: nats.port });
    },
    postgres: async () => {
      await killOn(folders.postgres);
      postgres = await startPostgres({ folder: folders.postgres, port: postgres.port });
    },
    natsStorage: async () => {
      await killOn(folders.nats);
      await rm(folders.nats, { recursive: true, force: true });
      nats = await startNats({ folder: folders.nats, port: nats.port });
    },
  };
  return { databaseUrl, eventStoreUrl, natsUrl: nats.url, vaultKey, kill, output: () => delivery.output() };
};

test(`every one of ${DELIVERY_KILL_COUNT} deliveries arrives, whatever is killed meanwhile`, {
  timeout: LIMIT_MS * 2,
}, async () => {
  const stack = await openStack();
  const pool = openPool(stack.databaseUrl, 4);
  resources.defer(() => pool.end());
  const eventStore = resources.use(openEventStore(stack.eventStoreUrl));
  const nats = resources.use(await openNats(stack.natsUrl, 'test'));
  await createDeliveryTables(pool);
  const workspaceId = 'ws_killed';
  const rules = Array.from({ length: RULES }, (): Rule => ({ workspaceId, alertId: randomUUID() }));
  const vault = await openSecretVault(pool, stack.vaultKey);
  const fingerprint = await vault.seal(workspaceId, WEBHOOK_SECRET_OWNER, SECRET);
  const issued = { workspace_id: workspaceId, fingerprint, issued_at: new Date().toISOString() };
  const secretStream = webhookSecretStream(workspaceId);
  await eventStore.append(
    secretStream,
    -1n,
    [{ type: 'WebhookSecretIssued', data: issued }],
    METADATA,
    randomUUID(),
  );

  const slowly = (status: number) => (response: Parameters<ReturnType<typeof answers>>[0]) =>
    void setTimeout(() => response.writeHead(status).end(), RECEIVER_MS);
  // One rule's receiver refuses the first it gets, so that retries are under way while things are killed.
  for (let n = 0; n < RULES; n += 1) receivers.behave(`/rule/${n}`, slowly(n === 0 ? 503 : 200), slowly(200));

  const queued: NewDelivery[] = [];
  const queueAll = async (): Promise<void> => {
    const everyMs = (DELIVERY_KILL_ROUNDS * ROUND_MS * QUEUED_TOGETHER) / DELIVERY_KILL_COUNT;
    while (queued.length < DELIVERY_KILL_COUNT) {
      const some = Array.from({ length: QUEUED_TOGETHER }, () => {
        const n = (queued.length + Math.floor(Math.random() * RULES)) % RULES;
        const rule = rules[n] ?? { workspaceId, alertId: '' };
        return newDelivery(rule, { channel: 'webhook', url: `${receivers.url}/rule/${n}` }, new Date());
      });
      // As alerts does: until it is committed, it is tried again under the same ids; the message may be lost.
      for (;;) {
        try {
          await inTransaction(pool, (client) => enqueue(client, some));
          break;
        } catch {
          await pause(50);
        }
      }
      queued.push(...some);
      void publishDue(
        nats,
        some.map(({ deliveryId }) => deliveryId),
      ).catch(() => undefined);
      await pause(everyMs);
    }
  };
  const queuing = queueAll();
  const below = choices(DELIVERY_KILL_SEED);
  // Each of them first, then whichever.
  const once = ['delivery', 'postgres', 'natsStorage', 'nats'] as const;
  const targets = ['delivery', 'nats', 'postgres'] as const;
  const killed: string[] = [];
  for (let round = 0; round < DELIVERY_KILL_ROUNDS; round += 1) {
    await pause(ROUND_MS / 2 + below(ROUND_MS / 2));
    const which = once[round] ?? targets[below(targets.length)] ?? 'delivery';
    killed.push(which);
    await stack.kill[which]();
  }
  await queuing;

  const left = async (): Promise<number> => {
    const { rows } = await pool.query(
      `select count(*)::int as left from delivery.delivery where status <> 'delivered'`,
    );
    return rows[0].left;
  };
  await until(
    `all delivered after ${killed.join()}`,
    LIMIT_MS,
    async () => (await left().catch(() => 1)) === 0,
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${stack.output().slice(-3_000)}`);
  });
  const arrived = Map.groupBy(receivers.received, ({ headers }) => headers['webhook-id'] ?? '');
  expect(queued.filter(({ deliveryId }) => !arrived.has(deliveryId)).length, 'missing').toBe(0);
  for (const { deliveryId, payload } of queued) {
    // However often it came, it is the same, under the same id.
    for (const { body } of arrived.get(deliveryId) ?? [])
      expect(JSON.parse(body.toString())).toEqual(payload);
  }
  for (const request of receivers.received.slice(-VERIFIED)) verifySignatures(request, SECRET);

  // The log comes to say the same as the rows: each attempt once.
  const attempts = await pool.query<{ count: number }>(
    `select count(*)::int as count from delivery.journal where type = 'DeliveryAttempted'`,
  );
  const factsOf = async (): Promise<readonly AlertDeliveryFact[]> => {
    const facts: AlertDeliveryFact[] = [];
    for (const { alertId } of rules) {
      for await (const fact of eventStore.read<AlertDeliveryFact>(alertDeliveryStream(workspaceId, alertId)))
        facts.push(fact);
    }
    return facts;
  };
  const expected = DELIVERY_KILL_COUNT + (attempts.rows[0]?.count ?? 0);
  await until('all facts', LIMIT_MS, async () => (await factsOf()).length >= expected);
  const facts = await factsOf();
  expect(facts).toHaveLength(expected);
  const of = (type: AlertDeliveryFact['type']) => facts.filter((fact) => fact.type === type);
  expect(new Set(of('DeliveryQueued').map(({ data }) => data.delivery_id)).size).toBe(DELIVERY_KILL_COUNT);
  const delivered = of('DeliveryAttempted').filter(
    ({ data }) => 'outcome' in data && data.outcome === 'delivered',
  );
  expect(delivered).toHaveLength(DELIVERY_KILL_COUNT);
  const duplicates =
    receivers.received.length - facts.filter((fact) => fact.type === 'DeliveryAttempted').length;
  console.log(
    `killed ${killed.join()}; ${receivers.received.length} requests, ${duplicates} of them not written down`,
  );
});
