import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { type AlertRuleCreated, alertRuleStream } from '#contracts/events/workspace/alert-rule.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { webhookSecretStream } from '#contracts/events/workspace/webhook-secret.ts';
import { type AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#application/vault/secret-vault.ts';
import { scanEvents } from '#tests/alerts/stack.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { METADATA, SECRET } from '#tests/delivery/new-delivery.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { type BenchContext, ROUNDS, scaled } from './bench.ts';
import { type BenchServers, openPlainPool, startServers } from './servers.ts';
import { type Processes, watchCpu } from './writes/watch-cpu.ts';

const LAUNCHES_PER_SECOND = 100;
const BRANDS = scaled(100);
const WARM_UP_SECONDS = scaled(3);
const MEASURED_SECONDS = scaled(10);
const P50_MS = 50;
const P99_MS = 250;
const LATE_LIMIT_MS = 30_000;
const WORKSPACE = 'ws_bench';
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');

/**
 * Latency from an event's recording (time of the event store) to the arrival of its webhook. Event store, alerts,
 * JetStream and delivery run as processes with production settings. A launch is recorded every 10 ms, each in a
 * scan of its own. The projector also runs, as in production, although nothing here waits for it.
 */
export async function run(context: BenchContext): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const servers = await startServers(resources);
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const { server, latencies } = await openReceiver();
  resources.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const brands = await prepare(servers, eventStore, `http://127.0.0.1:${port}/hook`);
  const environment = { ...servers.environment, LOG_LEVEL: 'info', API_BASE_URL: 'https://api.test' };
  const alerts = startProcess('services/alerts/main.ts', environment);
  resources.defer(() => alerts.kill());
  const delivery = startProcess('services/delivery/main.ts', {
    ...environment,
    MEMBER_VAULT_KEY: VAULT_KEY,
    EGRESS_ALLOW_LOOPBACK: 'true',
  });
  resources.defer(() => delivery.kill());
  const projector = startProcess('services/projector/main.ts', environment);
  resources.defer(() => projector.kill());
  await Promise.all([
    alerts.says('caught up'),
    projector.says('caught up'),
    delivery.says('leader acquired'),
  ]);

  await launch(eventStore, brands, WARM_UP_SECONDS, 0);
  const warm = WARM_UP_SECONDS * LAUNCHES_PER_SECOND;
  await received(latencies, warm);
  const used = await watchCpu(processesOf({ alerts, delivery, projector }, servers));
  await launch(eventStore, brands, MEASURED_SECONDS, warm);
  await received(latencies, warm + MEASURED_SECONDS * LAUNCHES_PER_SECOND);
  const usedMs = await used(MEASURED_SECONDS * LAUNCHES_PER_SECOND);
  const measured = latencies.slice(warm).toSorted((a, b) => a - b);
  const at = (share: number): number => measured[Math.floor(measured.length * share)] ?? Number.NaN;
  const [p50, p99] = [at(0.5), at(0.99)];
  context.print(
    `alerts-path: ${measured.length} launches at ${LAUNCHES_PER_SECOND} a second, event recorded to webhook received:` +
      ` p50 ${p50} ms, p99 ${p99} ms, longest ${measured.at(-1)} ms`,
  );
  await printSteps(context, servers);
  context.print(`  CPU time per delivery, in ms: ${usedMs}`);
  for (const [name, ms, limit] of [
    ['p50', p50, P50_MS],
    ['p99', p99, P99_MS],
  ] as const) {
    const target = `<= ${limit} ms`;
    const bench = `alerts-path: event to webhook, ${name}`;
    context.record({ bench, measured: `${ms} ms`, ceiling: '-', ratio: null, target, held: ms <= limit });
  }
}

/** Processes whose CPU time is measured. Postgres sessions are children of its postmaster. */
const processesOf = (
  started: Readonly<Record<string, ServiceProcess>>,
  { postmasterPid, eventStore }: BenchServers,
): Processes => ({
  'event store': ({ pid }) => pid === eventStore.pid,
  Postgres: ({ pid, parent }) => pid === postmasterPid || parent === postmasterPid,
  ...Object.fromEntries(
    Object.entries(started).map(([name, { child }]): [string, Processes[string]] => [
      name,
      ({ pid }) => pid === child.pid,
    ]),
  ),
});

/** Prints the duration of each step, computed from the deliveries' rows. */
async function printSteps(context: BenchContext, servers: BenchServers): Promise<void> {
  const pool = openPlainPool(servers.databaseUrl, 1);
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
  await pool.end();
  const steps = rows.map(({ step, p50, p99 }) => `${step} ${p50.toFixed(0)} (${p99.toFixed(0)})`);
  context.print(`  by step, p50 (p99) in ms: ${steps.join(', ')}`);
}

/** Starts a webhook receiver that records the age of each event on arrival. */
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

/** Creates brands with one alert rule each, and the secret that signs webhooks. */
async function prepare(
  servers: BenchServers,
  eventStore: EventStore,
  url: string,
): Promise<readonly string[]> {
  const pool = openPlainPool(servers.databaseUrl, 1);
  const vault = await openSecretVault(pool, VAULT_KEY);
  const fingerprint = await vault.seal(WORKSPACE, WEBHOOK_SECRET_OWNER, SECRET);
  await pool.end();
  const now = new Date().toISOString();
  const begin = (stream: string, type: string, data: object) =>
    eventStore.append(stream, -1n, [{ type, data }], METADATA, randomUUID());
  const issued = { workspace_id: WORKSPACE, fingerprint, issued_at: now };
  await begin(webhookSecretStream(WORKSPACE), 'WebhookSecretIssued', issued);
  const brands: string[] = [];
  for (let n = 0; n < BRANDS; n += 1) {
    const brand = registered(`bench${n}.example`, now);
    const { brand_id } = brand.data;
    await begin(brandStream(brand_id), brand.type, brand.data);
    const rule: AlertRuleCreated['data'] = {
      workspace_id: WORKSPACE,
      alert_id: randomUUID(),
      name: `Launches of ${n}`,
      trigger: 'new_ads',
      brand_ids: [brand_id],
      cadence: 'instant',
      email: false,
      webhook_url: `${url}/${n}`,
      chat: null,
      enabled: true,
      member_id: 'mem_bench',
      created_at: now,
    };
    await begin(alertRuleStream(WORKSPACE, rule.alert_id), 'AlertRuleCreated', rule);
    brands.push(brand_id);
  }
  return brands;
}

/**
 * Records scans with one launch each at an even rate, brand by brand. `before` is the number of scans recorded
 * earlier.
 */
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

if (import.meta.main) {
  await run({ rounds: ROUNDS, print: (line) => console.log(line), record: () => undefined });
  process.exit(0);
}
