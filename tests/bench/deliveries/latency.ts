import { randomUUID } from 'node:crypto';
import { adLibraryStream } from '#contracts/events/ad-library.ts';
import { alertRuleStream } from '#contracts/events/alert-rule.ts';
import { brandStream } from '#contracts/events/brand.ts';
import type { Fact } from '#contracts/events/fact.ts';
import { webhookSecretStream } from '#contracts/events/webhook-secret.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store.ts';
import { openPool } from '#platform/postgres.ts';
import { openSecretVault, WEBHOOK_SECRET_OWNER } from '#platform/secret-vault.ts';
import { scanFacts } from '#tests/alerts/stack.ts';
import { registered } from '#tests/api/corpus.ts';
import { METADATA, SECRET } from '#tests/delivery/new-delivery.ts';
import { openReceivers } from '#tests/delivery/receivers.ts';
import { startProcess } from '#tests/stack/processes.ts';
import type { BenchContext } from '../bench.ts';
import type { BenchServers } from '../servers.ts';

const BRANDS = 20;
/** One ad and the end of its scan: two facts, one webhook. */
const FACTS_PER_SCAN = 2;
const FACTS_PER_SECOND = 100;
const SCANS = 500;
const WARM_UP = 50;
const P50_TARGET_MS = 50;
const P99_TARGET_MS = 250;
const LIMIT_MS = 20_000;
const WORKSPACE_ID = 'ws_latency';
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');

/**
 * From a fact's acknowledgement by the event store to the webhook's arrival: alerts and delivery run as in
 * production, the receiver is this process, facts come at a steady rate.
 */
export async function measureLatency(context: BenchContext, servers: BenchServers): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const receivers = resources.use(await openReceivers());
  const eventStore = resources.use(openEventStore(servers.eventStore.url));
  const brandIds = await createRules(eventStore, servers, receivers.url);
  const environment = { ...servers.environment, MEMBER_VAULT_KEY: VAULT_KEY, LOG_LEVEL: 'info' };
  const alerts = startProcess('services/alerts/main.ts', { ...environment, API_BASE_URL: receivers.url });
  resources.defer(async () => void (await alerts.stop()));
  const delivery = startProcess('services/delivery/main.ts', {
    ...environment,
    EGRESS_ALLOW_LOOPBACK: 'true',
  });
  resources.defer(async () => void (await delivery.stop()));
  await Promise.all([alerts.says('caught up'), delivery.says('keeping deliveries')]);

  const recordedMs = new Map<string, number>();
  const revisions = new Map<string, bigint>();
  const appends: Promise<void>[] = [];
  const append = async (n: number): Promise<void> => {
    const brandId = brandIds[n % BRANDS] ?? '';
    const facts = scanFacts(brandId, new Date(Date.now() + n).toISOString(), 1);
    const stream = adLibraryStream(brandId);
    const { revision } = await eventStore.append(
      stream,
      revisions.get(stream) ?? -1n,
      facts,
      METADATA,
      randomUUID(),
    );
    revisions.set(stream, revision);
    const [ad] = facts;
    if (ad?.type === 'AdStarted') recordedMs.set(ad.data.ad_id, performance.now());
  };
  for (let n = 0; n < WARM_UP + SCANS; n += 1) {
    // A stream is appended to again only long after its last append was answered.
    appends.push(append(n));
    await pause((1_000 * FACTS_PER_SCAN) / FACTS_PER_SECOND);
  }
  await Promise.all(appends);
  for (const startMs = performance.now(); receivers.received.length < WARM_UP + SCANS; ) {
    if (performance.now() - startMs > LIMIT_MS) {
      throw new Error(
        `Only ${receivers.received.length} webhooks came.\n${alerts.output()}\n${delivery.output()}`,
      );
    }
    await pause(20);
  }
  const delays = receivers.received
    .slice(WARM_UP)
    .map(({ body, atMs }) => {
      const { items } = JSON.parse(body.toString('utf8')) as AlertPayload;
      return atMs - (recordedMs.get(items[0]?.ad_id ?? '') ?? Number.NaN);
    })
    .toSorted((a, b) => a - b);
  const at = (share: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN;
  const [p50, p99] = [at(0.5), at(0.99)];
  const said = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  context.print(
    `  fact to webhook, ${FACTS_PER_SECOND} facts a second: ${said}, most ${at(1).toFixed(0)} ms`,
  );
  context.record({
    bench: 'deliveries: fact to webhook',
    measured: said,
    ceiling: '-',
    ratio: null,
    target: `<= ${P50_TARGET_MS} and ${P99_TARGET_MS} ms`,
    held: p50 <= P50_TARGET_MS && p99 <= P99_TARGET_MS,
  });
}

async function createRules(
  eventStore: EventStore,
  servers: BenchServers,
  url: string,
): Promise<readonly string[]> {
  const create = (stream: string, fact: Fact) =>
    eventStore.append(stream, -1n, [fact], METADATA, randomUUID());
  const pool = openPool(servers.databaseUrl, 1);
  const vault = await openSecretVault(pool, VAULT_KEY);
  const fingerprint = await vault.seal(WORKSPACE_ID, WEBHOOK_SECRET_OWNER, SECRET);
  await pool.end();
  const at = new Date().toISOString();
  const issued = { workspace_id: WORKSPACE_ID, fingerprint, issued_at: at };
  await create(webhookSecretStream(WORKSPACE_ID), { type: 'WebhookSecretIssued', data: issued });
  const brandIds: string[] = [];
  for (let n = 0; n < BRANDS; n += 1) {
    const brand = registered(`latency${n}.example`, at);
    const { brand_id } = brand.data;
    await create(brandStream(brand_id), brand);
    brandIds.push(brand_id);
    const named = { workspace_id: WORKSPACE_ID, alert_id: randomUUID() };
    const settings = { trigger: 'new_ads', cadence: 'instant', email: false, chat: null, enabled: true };
    const rule = { name: 'Launches', brand_ids: [brand_id], webhook_url: `${url}/${n}`, ...settings };
    const data = { ...named, ...rule, member_id: 'mem_bench', created_at: at };
    await create(alertRuleStream(named.workspace_id, named.alert_id), { type: 'AlertRuleCreated', data });
  }
  return brandIds;
}
