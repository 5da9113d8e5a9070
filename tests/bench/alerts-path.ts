import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { scanEvents } from '#tests/alerts/stack.ts';
import { createWebhookRules, VAULT_KEY } from '#tests/delivery/webhook-rules.ts';
import { type BenchContext, METADATA, percentile, scaled } from './runner/bench.ts';
import { sumCpu, watchCpu } from './runner/cpu-time.ts';
import { openPlainPool, startServers, startService } from './runner/servers.ts';

const LAUNCHES_PER_SECOND = 100;
const BRANDS = scaled(100);
const WARM_UP_SECONDS = scaled(3);
const MEASURED_SECONDS = scaled(10);
const IDLE_SECONDS = scaled(10);
/** Longer than the 10 s after which an idle session reports its last transactions. */
const SETTLE_SECONDS = scaled(15);
const LATE_LIMIT_MS = 30_000;
const WORKSPACE = 'ws_bench';

/** Measures from an event's recording by the event store to its webhook, with production settings. */
export const run = async (context: BenchContext<'alerts-path'>): Promise<void> => {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const pool = openPlainPool(servers.databaseUrl, 1);
  resources.defer(() => pool.end());
  const { server, latencies } = await openReceiver();
  resources.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const urls = Array.from({ length: BRANDS }, (_, n) => `http://127.0.0.1:${port}/hook/${n}`);
  const brands = (await createWebhookRules(eventStore, pool, WORKSPACE, urls)).map(({ brandId }) => brandId);
  const start = (name: string, settings: Readonly<Record<string, string>> = {}) =>
    startService(resources, servers, name, { LOG_LEVEL: 'info', ...settings });
  const alerts = start('alerts', { API_BASE_URL: 'https://api.test' });
  const delivery = start('delivery', { MEMBER_VAULT_KEY: VAULT_KEY, EGRESS_ALLOW_LOOPBACK: 'true' });
  const projector = start('projector');
  // Has nothing to do here, and takes part in the idle figure alone.
  const ingest = start('ingest');
  await Promise.all([
    alerts.says('caught up'),
    projector.says('caught up'),
    delivery.says('leader acquired'),
    ingest.says('ingest consumer started'),
  ]);
  const processes = {
    'event store': servers.eventStore.pid,
    Postgres: servers.postmasterPid,
    projector: projector.pid,
    alerts: alerts.pid,
    delivery: delivery.pid,
  };

  await launch(eventStore, brands, WARM_UP_SECONDS, 0);
  const warm = WARM_UP_SECONDS * LAUNCHES_PER_SECOND;
  await received(latencies, warm);
  const before = await readActivity(pool);
  const cpuSince = await watchCpu(processes);
  await launch(eventStore, brands, MEASURED_SECONDS, warm);
  await received(latencies, warm + MEASURED_SECONDS * LAUNCHES_PER_SECOND);
  const used = await cpuSince();
  const after = await readActivity(pool);
  const measured = latencies.slice(warm);
  context.print(
    `alerts-path: ${measured.length} launches at ${LAUNCHES_PER_SECOND} a second, event recorded to webhook received`,
  );
  await printSteps(context, pool);
  context.record('event to webhook, p50', percentile(measured, 0.5));
  context.record('event to webhook, p99', percentile(measured, 0.99));
  context.record('CPU of an event, all processes', sumCpu(used) / measured.length);
  for (const [name, ms] of Object.entries(used))
    context.record(`CPU of an event, ${name}`, ms / measured.length);
  context.record('transactions of an event', (after.transactions - before.transactions) / measured.length);
  context.record('write-ahead log of an event', (after.bytes - before.bytes) / measured.length);
  // The last deliveries are recorded meanwhile.
  await pause(1_000 * SETTLE_SECONDS);
  const idleSince = await readActivity(pool);
  await pause(1_000 * IDLE_SECONDS);
  const idle = await readActivity(pool);
  context.record('idle, in a second', (idle.transactions - idleSince.transactions) / IDLE_SECONDS);
};

/** Counts over the whole server. Sessions report their transactions a second late, and the last ones when they are idle. */
async function readActivity(
  pool: Database,
): Promise<{ readonly transactions: number; readonly bytes: number }> {
  const { rows } = await pool.query<{ transactions: number; bytes: number }>(
    `select sum(xact_commit + xact_rollback)::float8 as transactions,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes from pg_stat_database`,
  );
  const [activity] = rows;
  if (!activity) throw new Error('Postgres reported no activity.');
  return activity;
}

async function printSteps(context: BenchContext<'alerts-path'>, pool: Database): Promise<void> {
  const { rows } = await pool.query<{ step: string; p50: number; p99: number }>(
    `with steps as (
       select (payload::json->>'created_at')::timestamptz as recorded, queued_at, at as attempted, duration_ms
       from delivery.delivery join delivery.journal using (delivery_id) where type = 'DeliveryAttempted'
       order by queued_at offset ${WARM_UP_SECONDS * LAUNCHES_PER_SECOND}
     ), took (step_number, step, ms) as (
       select 1, 'until matched', extract(epoch from queued_at - recorded) * 1000 from steps
       union all select 2, 'until sent', extract(epoch from attempted - queued_at) * 1000 from steps
       union all select 3, 'until answered', duration_ms from steps
     )
     select step, percentile_cont(0.5) within group (order by ms)::float8 as p50,
       percentile_cont(0.99) within group (order by ms)::float8 as p99
     from took group by step_number, step order by step_number`,
  );
  const steps = rows.map(({ step, p50, p99 }) => `${step} ${p50.toFixed(0)} (${p99.toFixed(0)})`);
  context.print(`  by step, p50 (p99) in ms: ${steps.join(', ')}`);
}

async function openReceiver(): Promise<{ readonly server: Server; readonly latencies: readonly number[] }> {
  const latencies: number[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const receivedAt = Date.now();
      reply.writeHead(204).end();
      const payload = JSON.parse(Buffer.concat(chunks).toString('utf8')) as AlertPayload;
      latencies.push(receivedAt - Date.parse(payload.created_at));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, latencies };
}

/** The rate is even, brand by brand. `before`: scans recorded earlier. */
async function launch(
  eventStore: EventStore,
  brands: readonly string[],
  seconds: number,
  before: number,
): Promise<void> {
  const startMs = performance.now();
  const appends: Promise<unknown>[] = [];
  for (let n = 0; n < seconds * LAUNCHES_PER_SECOND; n += 1) {
    const dueMs = startMs + (n * 1_000) / LAUNCHES_PER_SECOND;
    await pause(Math.max(0, dueMs - performance.now()));
    const scan = before + n;
    const brandId = brands[scan % BRANDS] ?? '';
    const events = scanEvents(brandId, new Date(Date.UTC(2026, 4, 1) + scan * 1_000).toISOString(), 1);
    const revision = BigInt(Math.floor(scan / BRANDS) * events.length) - 1n;
    appends.push(eventStore.append(adLibraryStream(brandId), revision, events, METADATA, randomUUID()));
  }
  await Promise.all(appends);
}

async function received(latencies: readonly number[], count: number): Promise<void> {
  const deadline = Date.now() + LATE_LIMIT_MS;
  while (latencies.length < count) {
    if (Date.now() > deadline)
      throw new Error(`Only ${latencies.length} of ${count} webhooks arrived in time.`);
    await pause(20);
  }
}
