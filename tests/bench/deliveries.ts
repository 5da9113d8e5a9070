import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { openWebhookChannel, signatureHeaders, webhookKeysOf } from '#platform/channels/webhook.ts';
import { systemClock } from '#platform/clock.ts';
import { enqueue, type NewDelivery, type QueuedDelivery } from '#application/delivery-outbox/enqueue.ts';
import { QUEUE_PLANS } from '#application/delivery-outbox/claim.ts';
import { notifyDue, receiveDue } from '#application/delivery-outbox/notices.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { type Database, inTransaction, openPool } from '#platform/postgres/pool.ts';
import { openSenders } from '#services/delivery/send.ts';
import { openWorker } from '#services/delivery/worker.ts';
import { newDelivery, type Rule, SECRET } from '#tests/delivery/new-delivery.ts';
import { measureIsolation } from './deliveries/isolation.ts';
import { type BenchContext, measurePairs, perSecond, scaled } from './runner/bench.ts';
import { type BenchServers, startServers } from './runner/servers.ts';

/** Makes rounds long: their start and end, where neither side is busy, hardly count. */
const DELIVERIES = scaled(30_000);
const RULES = 50;
const POOL_CLIENTS = 6;
/** Connections of both sides. */
const CONNECTIONS = 64;
const IN_FLIGHT = 512;
const LIMIT_MS = 60_000;
const RECEIVER = fileURLToPath(new URL('./deliveries/receiver.ts', import.meta.url));

type BenchDependencies = {
  readonly servers: BenchServers;
  readonly pool: Database;
  readonly nats: Nats;
  readonly origin: string;
  readonly rules: readonly Rule[];
};

/**
 * The ceiling sends the same POSTs and signatures with undici and does nothing else. Recording runs afterwards,
 * because receivers do not wait for it.
 */
export const run = async (context: BenchContext<'deliveries'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const pool = openPool(servers.databaseUrl, POOL_CLIENTS, { options: QUEUE_PLANS });
  resources.defer(() => pool.end());
  await createDeliveryTables(pool);
  const nats = resources.use(await openNats(servers.natsUrl, 'bench'));
  const receiver = fork(RECEIVER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  resources.defer(() => void receiver.kill('SIGKILL'));
  const [port] = (await once(receiver, 'message')) as [number];
  const rules = Array.from({ length: RULES }, () => ({ workspaceId: 'ws_bench', alertId: randomUUID() }));
  const dependencies: BenchDependencies = { servers, pool, nats, origin: `http://127.0.0.1:${port}`, rules };
  context.print(
    `deliveries: ${DELIVERIES.toLocaleString('en')} webhooks of ${RULES} rules, from the notice to the response, compared ` +
      'with undici and HMAC alone; medians of paired rounds',
  );

  let queued: readonly QueuedDelivery[] = [];
  const pairs = await measurePairs(
    context.rounds,
    async () => {
      const [deliveries, due] = await queue(dependencies);
      queued = due;
      return sendBare(dependencies, deliveries);
    },
    () => sendOurs(dependencies, queued),
  );
  const { measured, ceiling, ratio } = pairs.of((rate) => rate);
  context.record('notice to POST', measured, ceiling, ratio);
  context.print(
    `  ${perSecond(measured)} of ${perSecond(ceiling)}, ratio ${ratio.toFixed(2)}; events queued and attempted, recorded ` +
      `afterwards: ${perSecond(await recordAll(dependencies))}`,
  );
  await measureIsolation(context, servers);
};

async function queue({ pool, rules, origin }: BenchDependencies) {
  const deliveries = Array.from({ length: DELIVERIES }, (_, n) => {
    const rule = rules[n % RULES] ?? { workspaceId: '', alertId: '' };
    return newDelivery(rule, { channel: 'webhook', url: `${origin}/rule/${n % RULES}` }, new Date());
  });
  // Forces the state of production: pages of a delivery were written after the last checkpoint.
  await pool.query('checkpoint');
  const queued = await inTransaction(pool, (client) => enqueue(client, deliveries));
  return [deliveries, queued] as const;
}

async function sendBare({ origin }: BenchDependencies, deliveries: readonly NewDelivery[]): Promise<number> {
  const client = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const keys = webhookKeysOf(SECRET);
  const bodies = deliveries.map(({ payload }) => Buffer.from(JSON.stringify(payload), 'utf8'));
  let next = 0;
  const send = async (): Promise<void> => {
    for (let n = next++; n < DELIVERIES; n = next++) {
      const body = bodies[n] ?? Buffer.alloc(0);
      const headers = signatureHeaders(deliveries[n]?.deliveryId ?? '', new Date(), body, keys);
      const path = `/rule/${n % RULES}`;
      const reply = await client.request({
        method: 'POST',
        path,
        headers: ['content-type', 'application/json', ...headers],
        body,
      });
      await reply.body.dump();
      if (reply.statusCode !== 204) throw new Error(`The receiver replied ${reply.statusCode}.`);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  const rate = (DELIVERIES / (performance.now() - startMs)) * 1_000;
  await client.close();
  return rate;
}

/** Ends when the last attempt is stored. */
async function sendOurs(
  { pool, nats }: BenchDependencies,
  queued: readonly QueuedDelivery[],
): Promise<number> {
  const ending = new AbortController();
  await using egress = openEgress({ allowLoopback: true });
  const all = Promise.withResolvers<void>();
  const limit = setTimeout(() => all.reject(new Error('Not all deliveries were sent in time.')), LIMIT_MS);
  let sent = 0;
  const webhook = openWebhookChannel(egress, systemClock);
  const senders = openSenders({
    webhook,
    chat: { sendOnce: () => Promise.reject(new Error('no chat here')) },
    email: { sendOnce: () => Promise.reject(new Error('no e-mail here')), [Symbol.dispose]: () => undefined },
    emailAddress: async () => null,
    signingSecret: async () => SECRET,
    chatAddress: async () => null,
  });
  const worker = openWorker({
    pool,
    clock: systemClock,
    log: silentLog(),
    workerId: `bench_${randomBytes(4).toString('hex')}`,
    chance: Math.random,
    mayEmail: () => false,
    send: async (delivery) => {
      const outcome = await senders(delivery);
      if ('delivered' in outcome && outcome.delivered) sent += 1;
      if (sent === DELIVERIES) all.resolve();
      return outcome;
    },
  });
  const startMs = performance.now();
  const receiving = receiveDue(nats, worker.due, ending.signal);
  notifyDue(nats, queued);
  await all.promise;
  clearTimeout(limit);
  await worker.idle();
  const rate = (DELIVERIES / (performance.now() - startMs)) * 1_000;
  ending.abort();
  await receiving;
  await worker.close();
  const { rows } = await pool.query<{ open: number }>(
    `select count(*)::int as open from delivery.overview where status <> 'delivered'`,
  );
  if (rows[0]?.open !== 0) throw new Error(`${rows[0]?.open} deliveries are not stored as delivered.`);
  return rate;
}

async function recordAll({ pool, servers }: BenchDependencies): Promise<number> {
  await using eventStore = openEventStore(servers.eventStore.url);
  const startMs = performance.now();
  let events = 0;
  for (let published = -1; published !== 0; ) {
    published = (await publishEvents(pool, eventStore)).entries;
    events += published;
  }
  return (events / (performance.now() - startMs)) * 1_000;
}
